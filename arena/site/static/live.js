"use strict";
// Parts of a page are replaced by those of the same address, fetched again when an event of its topics arrives.
