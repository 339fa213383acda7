"""Verifying a published folder from itself alone: digests, records by the rules, and pages from the records."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator
from itertools import islice, zip_longest
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from arena.analysis.measures.verification import verify
from arena.base.errors import StoreError, failing_as
from arena.base.names import as_file_name
from arena.base.text import counted, json_value, shortened_text, size_text
from arena.site.publish.contents import RECORDS
from arena.site.publish.folder_files import MANIFEST, FolderReader, Manifest, Signature, read_manifest
from arena.site.publish.publishing import BuiltPage, Folder
from arena.site.publish.signature import PUBLIC_KEY, SIGNATURE, SIGNATURE_FILES, PublicKey, can_sign, pem_key
from arena.store.home import ArenaHome
from arena.tournament.transfer.checks import MergedTournament
from arena.tournament.transfer.merging import import_records
from arena.tournament.transfer.new_tournament import temporary_home

# The differences between two JSON values: that of a page, and the one that follows from the records.

TOLERANCE = 0.02
"""Two fits of the same results, by another version or on another machine, may differ by a few of the fit's own."""

_NOTHING = object()


def differences(content: Any, expected: Any, is_complete: bool) -> Iterator[str]:
    """Yield where a value differs from what is expected, as the beginning of a sentence that ends with "by …".

    Args:
        content: a value from JSON, of any kind and depth.
        expected: the value it is compared with.
        is_complete: whether it has to have every key of the expected value, and no other: not if another version of the
            arena has written it.
    """
    waiting: list[tuple[str, Any, Any]] = [("", content, expected)]  # a recursion would end at the depth of the stack
    while waiting:
        place, actual, due = waiting.pop()
        if isinstance(actual, dict) and isinstance(due, dict):
            keys = dict.fromkeys([*due, *actual]) if is_complete else [key for key in due if key in actual]
            inner = [(f"{place}.{key}", actual.get(key, _NOTHING), due.get(key, _NOTHING)) for key in keys]
            waiting += reversed(inner)
        elif isinstance(actual, list) and isinstance(due, list):
            pairs = enumerate(zip_longest(actual, due, fillvalue=_NOTHING))
            waiting += reversed([(f"{place}[{number}]", *pair) for number, pair in pairs])
        elif not _is_same(actual, due):
            yield f"{shortened_text(place.lstrip('.'))} is {_shown(actual)}, but {_shown(due)}"


def _is_same(actual: Any, due: Any) -> bool:
    if isinstance(actual, float) or isinstance(due, float):
        are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (actual, due))
        return are_numbers and _are_close(actual, due)
    return type(actual) is type(due) and bool(actual == due)


def _are_close(actual: float, due: float) -> bool:
    try:
        return isclose(actual, due, rel_tol=0.0, abs_tol=TOLERANCE)
    except OverflowError:  # JSON may have whole numbers that no float can hold
        return False


def _shown(value: Any) -> str:
    return "missing" if value is _NOTHING else json_value(value)


# The folder may come from anybody. So every read is bounded and follows no links, its records are imported like any
# export, into a temporary home, and the list of files that it should have is computed from them.

MAX_PROBLEMS_OF_A_KIND = 20
MAX_PAGE_BYTES = 64 * 2**20

Progress = Callable[[str, int], None]
"""Called with what is being checked, and the number of them so far."""


class FolderVerification(NamedTuple):
    """The result of verifying a folder.

    Attributes:
        pages: how many pages were made again; 0 if another version of the arena has made them.
        signed_by: the key whose signature it has; None if none is valid, or nothing here can check it.
    """

    files: int
    matches: int
    pages: int
    problems: list[str]
    signed_by: str | None = None


def verify_folder(
    directory: Path,
    *,
    external_games: Collection[str] = (),
    key: PublicKey | None = None,
    progress: Progress = lambda what, count: None,
) -> FolderVerification:
    """Check the digests of a folder, replay its records, and make its pages again.

    Args:
        external_games: the games from outside the package that may be imported.
        key: the one that has to have signed it; None if any may have, or none.

    Raises:
        UsageError: if it is no published folder.
    """
    with FolderReader(directory) as reader, temporary_home() as home:
        data = reader.manifest_bytes()
        check = _Check(reader, read_manifest(data, f"{directory}/{MANIFEST}"), home, progress)
        signed_by, problem = _signer(data, reader.signature(), key)
        problems = [problem] if problem else list(_first_problems(check.files(), "file"))
        if not problems:
            problems = list(_first_problems(check.records(external_games), "record"))
        if not problems:
            problems = list(_first_problems(check.pages(), "page"))
        return FolderVerification(len(check.manifest.files), check.matches, check.pages_made, problems, signed_by)


def _signer(data: bytes, signature: Signature | None, required: PublicKey | None) -> tuple[str | None, str]:
    """Return the key that has signed a manifest, and what is wrong with the signature."""
    if signature is None:
        return None, f"it is not signed, and so not by {required.text}" if required is not None else ""
    if not can_sign():
        return None, ""  # no key was given, as that takes the package
    key = pem_key(signature.key)
    if key is None:
        return None, f"{PUBLIC_KEY}: it is no Ed25519 public key in PEM"
    if required is not None and required.text != key.text:
        return None, f"it is signed with the key {key.text}, not with {required.text}"
    if not key.has_signed(data, signature.signature):
        return None, f"{SIGNATURE}: it is not the signature of {MANIFEST} by {key.text}"
    return key.text, ""


def _first_problems(problems: Iterator[str], noun: str) -> Iterator[str]:
    yield from islice(problems, MAX_PROBLEMS_OF_A_KIND)
    if more := sum(1 for _ in problems):
        yield f"and {counted(more, f'more {noun}')} with a problem"


class _Check:
    def __init__(self, reader: FolderReader, manifest: Manifest, home: ArenaHome, progress: Progress) -> None:
        self.manifest = manifest
        self.matches = self.pages_made = 0
        self._reader, self._home, self._progress = reader, home, progress

    def files(self) -> Iterator[str]:
        """Yield files that differ from the manifest, or are not in it."""
        for number, (path, entry) in enumerate(self.manifest.files.items(), 1):
            if problem := self._reader.problem_of(path, entry):
                yield f"{path}: {problem}"
            self._progress("file", number)
        try:
            for path in self._reader.paths():
                if path not in self.manifest.files and path not in (MANIFEST, *SIGNATURE_FILES):
                    yield f"{path}: it is not in the manifest"
        except OSError as error:
            yield f"the folder can't be read: {error.strerror}"

    def records(self, external_games: Collection[str]) -> Iterator[str]:
        """Yield what is wrong with the records: importing replays them, and rates them again."""
        for tournament in self.manifest.tournaments:
            path = tournament.records
            if not path.startswith(f"{RECORDS}/") or path not in self.manifest.files:
                yield f"{MANIFEST}: it has no file with the records of tournament {as_file_name(tournament.name)!r}"
                continue
            try:
                taken = self._imported(path, external_games)
            except (OSError, StoreError) as error:
                yield f"{path}: {error}"
                continue
            if taken.refusal is not None or taken.name != tournament.name:
                yield f"{path}: {taken.refusal or 'it has the records of another tournament'}"
                continue
            self.matches += taken.taken
            self._progress("match", self.matches)
            yield from (f"{path}: {problem}" for problem in verify(self._home, tournament.name).problems)

    def _imported(self, path: str, external_games: Collection[str]) -> MergedTournament:
        with self._reader.open(path) as file:
            taken = import_records(self._home, file, external_games=external_games)
        if len(taken) != 1:
            raise StoreError(f"expected the records of one tournament, got those of {len(taken)}")
        return taken[0]

    def pages(self) -> Iterator[str]:
        """Yield where pages do not follow from the records."""
        folder = Folder(self._home, self.manifest.max_matches)
        expected = set()
        for page in folder.pages():
            for path, problem in self._page(folder, page):
                expected.add(path)
                if problem:
                    yield f"{path}: {problem}"
            self.pages_made += 1
            self._progress("page", self.pages_made)
        expected |= {path for path, _ in folder.records()}
        if self.manifest.is_of_this_version:
            for path, content in folder.assets():
                expected.add(path)
                if path in self.manifest.files and self._bytes(path) != content:
                    yield f"{path}: it is not the arena's"
            listed = self.manifest.files.keys()
            yield from (f"{path}: it is missing, and so it is in the manifest" for path in sorted(expected - listed))
            yield from (f"{path}: nothing in the records leads to it" for path in sorted(listed - expected))

    def _page(self, folder: Folder, page: BuiltPage) -> Iterator[tuple[str, str | None]]:
        """Yield the files of a page, each with what is wrong with it."""
        twin = f"{page.place}.json"
        twin_here = self._bytes(twin) if twin in self.manifest.files else page.twin
        if twin_here != page.twin:  # the embargo is from the publisher, and does not follow from the records
            with contextlib.suppress(ValidationError):
                page = page.frozen_as(page.showing(twin_here).frozen)
        expected = dict(folder.files(page))  # always built, because its links lead to the next pages
        yield twin, None
        if twin not in self.manifest.files:
            return  # reported later, with all missing files
        if twin_here != page.twin:
            yield twin, self._twin_problem(twin_here, page)
            if self.manifest.is_of_this_version:
                try:
                    expected = dict(folder.files(page.showing(twin_here)))
                except ValidationError as error:
                    yield twin, f"it is malformed: {error.error_count()} fields are not what this page has"
                    return
        for path, content in expected.items() if self.manifest.is_of_this_version else ():
            if path != twin:
                is_same = path not in self.manifest.files or self._bytes(path) == content
                yield path, None if is_same else f"it does not say what {twin} says"

    def _twin_problem(self, twin_here: bytes, page: BuiltPage) -> str | None:
        try:
            content = json.loads(twin_here)
        except (ValueError, RecursionError):
            return "it is not JSON"
        found_differences = list(
            islice(differences(content, json.loads(page.twin), self.manifest.is_of_this_version), 4)
        )
        shown = "; ".join(found_differences[:3]) + ("; and more" if len(found_differences) > 3 else "")
        return f"{shown} by the records" if found_differences else None

    def _bytes(self, path: str) -> bytes:
        """Return a file of the folder whose digest has been checked."""
        with failing_as(StoreError, f"{path}: can't be read"), self._reader.open(path) as file:
            data = file.read(MAX_PAGE_BYTES + 1)
        if len(data) > MAX_PAGE_BYTES:
            raise StoreError(f"{path}: it is longer than {size_text(MAX_PAGE_BYTES)}")
        return data
