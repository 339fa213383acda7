WIDTHS = (320, 390, 768, 1280, 2560)

SCHEMES = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "light", "forced_colors": "active"},
}
BREAKS_A_NUMBER = """[...document.querySelectorAll('.facts dd')].some(one => {
    const text = document.createRange();
    text.selectNodeContents(one);
    const lines = text.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight);
    return one.checkVisibility() && one.innerText.length <= 8 && lines > 1.5;
})"""
SPILLS = """[...document.querySelectorAll('main *')].filter(one => {
    const style = getComputedStyle(one);
    return one.checkVisibility() && one.scrollHeight > one.clientHeight + 1
        && style.maxHeight !== 'none' && style.overflowY === 'visible';
}).map(one => one.innerText.slice(0, 80))"""
"""The texts of elements that are lower than what is in them, so that it lies over what follows."""

OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of axe whose answer depends on the scheme."""


def barriers(page, scheme="light"):
    """Return what bars somebody from a page: of every rule, and in other schemes of colours of those about colours."""
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(**SCHEMES[scheme])
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    rules = {} if scheme == "light" else {"runOnly": OF_COLOURS}
    options = {"resultTypes": ["violations"], **rules}
    violations = page.evaluate("(options) => axe.run(options).then((found) => found.violations)", options)
    page.emulate_media(**SCHEMES["light"])
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in violations]


class Visit:
    """A page that a browser has loaded once: its text, what it asked for, and what it said or failed at."""

    def __init__(self, page, address):
        self.page, self.asked, self.console = page, [], []
        page.goto("about:blank")  # what was there before asks for nothing any more
        self._listeners = {
            "request": lambda request: request.url.startswith("data:") or self.asked.append(request.url),
            "console": lambda message: self.console.append(message.text),
            "pageerror": lambda error: self.console.append(str(error)),
            "dialog": lambda dialog: (self.console.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)
        self.text = page.goto(address).text()
        self.requests = len(self.asked)

    def end(self):
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def spills(self, width=320):
        """Return the texts that lie over what follows them."""
        usual = self.page.viewport_size
        self.page.set_viewport_size({"width": width, "height": 900})
        found = self.page.evaluate(SPILLS)
        self.page.set_viewport_size(usual)
        return found

    def width_on_paper(self):
        """Return the width of the page on A4, whose sheets are 718 pixels wide between their margins."""
        usual = self.page.viewport_size
        self.page.set_viewport_size({"width": 718, "height": 1000})
        self.page.emulate_media(media="print")
        width = self.page.evaluate("document.documentElement.scrollWidth")
        self.page.emulate_media(media="screen")
        self.page.set_viewport_size(usual)
        return width

    def too_narrow(self):
        usual, narrow = self.page.viewport_size, []
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 900})
            if self.page.evaluate("document.documentElement.scrollWidth") > width or self.page.evaluate(
                BREAKS_A_NUMBER
            ):
                narrow.append(width)
        self.page.set_viewport_size(usual)
        return narrow
