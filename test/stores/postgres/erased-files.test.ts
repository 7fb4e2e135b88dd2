import { describe, expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { erasePerson } from "../../../src/server/erasing/erase-person.ts";
import { formatCertificate } from "../../../src/server/erasing/erasure-certificate.ts";
import { verifyErasure } from "../../../src/server/erasing/verify-erasure.ts";
import { findErasedPerson } from "../../../src/server/gateway/identity/index.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";

const server = await findTestPostgres();

describe.skipIf("problem" in server)(`erasure (${describeProblem(server)})`, () => {
  // Reading the files of a server needs the rights of its administrator, whom the server of the tests has.
  test.skipIf(process.env.LONGHAUL_TEST_POSTGRES)(
    "a certificate of erasure says that bytes are left in the server's files until a vacuum",
    async () => {
      const kernel = await openKernel({ store: createSchemaUrl(server), embedder: null, monitor: false });
      onTestFinished(() => kernel.close());
      await kernel.team.add("bob", { by: "test" });
      for (const name of ["one", "two"]) {
        const session = await kernel.session(`@bob/${name}`, { title: "harborcanary" });
        for (let index = 0; index < 20; index++)
          await session.append({ role: "user", text: `harborcanary ${index} ${"word ".repeat(200)}` });
      }
      await (await kernel.session("@carol/kept")).append({ role: "user", text: "kept" });
      await kernel.memory.catchUp();
      const person = await findErasedPerson(kernel, "bob");
      const certificate = await erasePerson(kernel, person, { by: "test" });
      expect(certificate.scrubbed).toBe(false);
      expect(formatCertificate(certificate)).toContain("longhaul gc --vacuum");
      const before = await verifyErasure(kernel, person, certificate);
      expect(before.problems).toEqual([]);
      expect(before.notes.join()).toContain("left in the files of");
      const canary = async () => (await kernel.maintenance.searchFiles(["harborcanary"]))?.found;
      expect(await canary()).toContain("sessions");
      await kernel.vacuum();
      expect(await canary()).toEqual([]);
      expect(await verifyErasure(kernel, person, certificate)).toEqual({ problems: [], notes: [] });
      const kept = await kernel.session("@carol/kept");
      expect(await kept.read({ from: 1 })).toHaveLength(1);
    },
  );
});
