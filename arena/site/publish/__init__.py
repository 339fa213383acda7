"""The site as a folder of files for any static host: what is in it, how it is written, and how it is verified."""
