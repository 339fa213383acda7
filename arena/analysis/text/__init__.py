"""Values to text: tables in every format. Pure; printing is the command line's business."""
