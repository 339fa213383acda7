"""A program that does nothing but use the processor, to see how a bot keeps time beside it. Run as a bot."""

while True:
    pass
