import csv
import io
import re
from html.parser import HTMLParser

import html5lib

from arena.site.links import ServedLinks
from arena.site.page_table import PAGE_BY_NAME
from arena.site.render import Setting, asset_digests, render

VOID = {"meta", "input", "br", "link", "img", "hr", "wbr"}


def model_of(home, name, **parameters):
    page = PAGE_BY_NAME[name]
    built = page.function()(home, page.parameters.model_validate(parameters))
    return page.model.model_validate_json(built.model_dump_json())


def html_of(home, name, links=None, **parameters):
    page = PAGE_BY_NAME[name]
    model = model_of(home, name, **parameters)
    values = page.parameters.model_validate(parameters)
    return rendered(name, model, values, links=links, topics=page.topics_of(values))


def checked(home, name, links=None, **parameters):
    page = Parsed(html_of(home, name, links, **parameters))
    page.check()
    return page


def csv_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def rendered(name, model, parameters, links=None, **setting):
    return render(
        PAGE_BY_NAME[name], parameters, model, Setting(links=links or ServedLinks(asset_digests()), **setting)
    )


def tree(html):
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)


def text_in(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


class Parsed(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.source, self.elements, self.texts, self.open, self.mismatches = source, [], [], [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of <{tag}> appears twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.mismatches.append(tag)

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts)).strip()

    def all(self, wanted, **attributes):
        return [
            found for tag, found in self.elements
            if tag == wanted and all(found.get(key) == value for key, value in attributes.items())
        ]  # fmt: skip

    def part(self, wanted):
        found = re.search(rf'<(\w+)[^>]* id="{wanted}"', self.source)
        assert found, f"no element has the id {wanted}"
        depth, tag = 0, found[1]
        for piece in re.finditer(rf"<(/?){tag}\b[^>]*>", self.source[found.start() :]):
            depth += -1 if piece[1] else 1
            if not depth:
                return Parsed(self.source[found.start() : found.start() + piece.end()])
        raise AssertionError(f"the element {wanted} is not closed")

    def rows(self):
        return [
            [re.sub(r"\s+", " ", Parsed(cell).text) for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.S)]
            for row in re.findall(r"<tr[ >].*?</tr>", self.source, re.S)
        ]

    def check(self):
        assert not self.open and not self.mismatches
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        assert len(self.all("h1")) == 1
        assert not any(name == "style" or name.startswith("on") for _, found in self.elements for name in found)
        assert all(found.get("src") for found in self.all("script"))
        for found in self.all("a"):
            href = found["href"]
            assert href.startswith(("/", "#")), href
            assert not href.startswith("#") or href[1:] in ids, href
        labelled = [found["aria-labelledby"] for _, found in self.elements if "aria-labelledby" in found]
        assert set(labelled) <= set(ids)
