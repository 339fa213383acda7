from arena.store.people.values import Scope
from tests.server.operations.conftest import JSON, PASSWORD


async def test_a_closed_account_ends_at_once_and_a_role_holds_from_the_next_request_on(world):
    ann, program, dora = world.browser("ann"), world.program("ann"), world.browser("dora")
    await dora.post("/people/ann/close", data={"reason": "x"})
    assert (await ann.get("/account")).status_code == 303
    assert (await ann.post("/account/tokens", data={"name": "x", "scopes": "read"})).status_code == 401
    assert (await program.get("/account")).status_code == 401
    await dora.post("/people/ann/open", data={"reason": "x"})
    assert (await ann.get("/account")).status_code == 303, "what has ended stays so"
    assert (await program.get("/account")).status_code == 401
    program, olga = world.program("dora", Scope.DIRECT), world.browser("olga")
    assert (await dora.get("/people")).status_code == (await program.get("/people")).status_code == 200
    await olga.post("/people/dora/role", data={"role": "author", "reason": "x"})
    assert (await dora.get("/people")).status_code == (await program.get("/people")).status_code == 403
    await olga.post("/people/dora/role", data={"role": "director", "reason": "x"})
    assert (await dora.get("/people")).status_code == 200


async def test_a_link_that_a_director_made_for_an_author_opens_no_operator(world):
    dora, olga = world.browser("dora"), world.browser("olga")
    made = await dora.post("/people/ann/link", headers={"accept": JSON})
    await olga.post("/people/ann/role", data={"role": "operator", "reason": "x"})
    fields = {"password": PASSWORD + " of another"}
    assert (await world.client().post(made.json()["link"], data=fields)).status_code == 404
    assert (await world.client().post("/sign-in", data={"name": "ann", "password": PASSWORD})).status_code == 303
