import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import DefinitionError
from arena.tournament.definition import load_definition
from arena.tournament.tournament_file import MAX_VARIANTS, has_lists, variants_of
from tests.conftest import BOTS

VALUE = st.from_regex(r"[A-Za-z0-9_.+-]{1,4}", fullmatch=True)


def names_and_args(args):
    return {variant.named("mcts"): variant.args for variant in variants_of(args)}


def test_several_lists_multiply_and_the_last_changes_fastest():
    found = names_and_args(["--c={0.5, 1.5}", "x", "{a,b}-{+1,-1}"])
    assert list(found) == [f"mcts {c} {x} {sign}1" for c in (0.5, 1.5) for x in "ab" for sign in "+-"]
    assert found["mcts 0.5 b -1"] == ("--c=0.5", "x", "b--1")


LEFT = ["", "{}", "{10}", "a,b", '{"a":1,"b":2}', "{a:1,b:2}", "{a,{b", "}a,b{", "{ä,ö}", f"{{{'1,' * 200_000}!}}"]


@pytest.mark.parametrize("arg", LEFT, ids=lambda arg: arg[:9])
def test_other_braces_are_left_as_they_are(arg):
    assert not has_lists([arg])
    assert names_and_args([arg]) == {"mcts": (arg,)}


def test_doubled_braces_stand_for_the_text_itself():
    assert names_and_args(["{{1,2}}", '{{"x":1}}']) == {"mcts": ("{1,2}", '{{"x":1}}')}


@given(st.lists(st.lists(VALUE, min_size=2, max_size=4, unique=True), max_size=3))
def test_names_and_arguments_of_variants_are_unique(lists):
    variants = names_and_args(["{" + ",".join(values) + "}" for values in lists])
    count = 1
    for values in lists:
        count *= len(values)
    assert len(variants) == len(set(variants.values())) == count
    assert all(" ".join(("mcts", *args)) == name for name, args in variants.items())


@given(st.text(alphabet="{},a1 \n", max_size=30))
def test_any_text_has_variants_or_one_sentence(text):
    try:
        assert variants_of([text])
    except DefinitionError as error:
        assert str(error).startswith("args[0] = ") and "\n" not in str(error)


REFUSED = {
    "no last value": ("{10,}", "args[1] = '{10,}': a value is missing between the commas"),
    "no value": ("{,}", "args[1] = '{,}': a value is missing"),
    "one twice": ("{10,30,10}", "args[1] = '{10,30,10}': the value '10' appears twice"),
    "many lists": ("{0,1}" * 40, "args: the lists in braces make 1,099,511,627,776 variants; expected at most 100"),
    "a long list": (f"{{{','.join(map(str, range(100_000)))}}}", "the list has 100,000 values; expected at most 100"),
    "a number of many digits": ("{1,2,3,4,5,6,7,8,9}" * 5000, "the lists in braces make too many variants; expected"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_list_of_values_is_refused_at_once(what):
    arg, message = REFUSED[what]
    with pytest.raises(DefinitionError, match=re.escape(message)):
        variants_of(["--rollouts", arg])


def test_as_many_variants_as_may_be_are_accepted():
    tens = "{0,1,2,3,4,5,6,7,8,9}"
    assert len(variants_of([tens, tens])) == MAX_VARIANTS == 100


def table(args, bot="mcts", more=""):
    return f'[[entrants]]\nbot = "{BOTS / bot}"\nargs = ["--rollouts", "{args}"]\n{more}'


@pytest.fixture
def labels(tmp_path):
    def read(text):
        path = tmp_path / "t.toml"
        path.write_text(f'game = "differences"\n{text}')
        return {bot.label: bot.command[-1] for bot in load_definition(path).entrants}

    return read


def test_variants_enter_a_tournament_in_their_order(labels):
    text = table("{10,30}") + table("{7,8}", more='name = "m"\n')
    assert list(labels(text).items()) == [("mcts 10@2", "10"), ("mcts 30@2", "30"), ("m 7@2", "7"), ("m 8@2", "8")]
    assert list(labels(table("{10,30}"))) == ["mcts 10@2", "mcts 30@2"], "one table is enough"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (table("10"), "entrants: expected at least two [[entrants]] tables, or entrants_from"),
        (table("{10,}"), "entrants[0].args[1] = '{10,}': a value is missing"),
        (table("{10,30}") + table("30", more='name = "mcts 30"\n'), "[1].name = 'mcts 30': another entrant has"),
        (table("{1,2}", more=f'name = "{"x" * 64}"\n'), f"entrants[0]: name = '{'x' * 64} 1': expected 1 to 64"),
        (table("{1,2}", bot="nobody"), "entrants[0]: bot '"),
    ],
)
def test_what_is_wrong_with_variants_is_said(labels, text, message):
    with pytest.raises(DefinitionError, match=re.escape(message)):
        labels(text)
