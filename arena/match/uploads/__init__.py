"""What strangers submit: archives and single files, unpacked in a confined process."""
