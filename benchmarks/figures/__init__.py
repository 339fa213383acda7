"""What is compared between versions of the arena: a module each, with a function ``measure``.

``measure() -> dict[str, float]`` returns a value for each figure, whose name has its unit; ``nan`` where this version
of the arena can't do it. The module's docstring says what is measured. It runs on earlier versions as well.
"""
