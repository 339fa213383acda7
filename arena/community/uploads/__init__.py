"""What strangers hand in: archives and single files, unpacked in a confined process."""
