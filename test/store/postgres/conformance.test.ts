import { describe } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/index.ts";
import { storeSuite } from "../../../src/testing/index.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTest, sizedTest } from "../../support/proof.ts";

const server = await findTestPostgres();

/** One case of each subject that an append touches; creating the tables takes longer than most cases. */
const EVERYDAY = [
  "entries: a request that is refused leaves the others of its group alone",
  "tasks: of many who move one at once, one succeeds",
  "blobs: writing, appending and collecting at once never loses a referred blob",
  "deletion: a session goes with its entries, drafts and own blobs, and says what it freed",
];

describe.skipIf("problem" in server)(`the PostgreSQL store (${describeProblem(server)})`, () => {
  for (const { name, run } of storeSuite(() => openPostgresStore({ url: createSchemaUrl(server) })))
    (EVERYDAY.includes(name) ? sizedTest : proofTest)(name, run);
});
