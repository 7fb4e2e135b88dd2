import { afterAll, beforeAll, describe } from "vitest";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { storeSuite } from "../../../src/stores/testing/index.ts";
import { findPgbouncer, type Pgbouncer, startPgbouncer } from "../../support/postgres/pgbouncer.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { isProof, proofTest, sizedTest } from "../../support/proof.ts";

const server = await findTestPostgres();
const pgbouncer = findPgbouncer();

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

const problem = "problem" in pgbouncer ? `: skipped, because ${pgbouncer.problem}` : "";

describe.skipIf("problem" in server || "problem" in pgbouncer)(
  `the PostgreSQL store behind PgBouncer in transaction mode${problem}`,
  () => {
    let bouncer: Pgbouncer | undefined;
    beforeAll(async () => {
      if (isProof && "url" in server && "path" in pgbouncer)
        bouncer = await startPgbouncer(pgbouncer.path, server.url);
    });
    afterAll(() => bouncer?.stop());
    const open = () => openPostgresStore({ url: createSchemaUrl({ url: bouncer?.url ?? "" }) });
    for (const { name, run } of storeSuite(open)) proofTest(name, run);
  },
);
