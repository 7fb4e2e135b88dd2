import { expect, test } from "vitest";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import {
  erasePerson,
  requireErasable,
  resumePersonErasures,
} from "../../../src/server/erasing/erase-person.ts";
import type { ErasureCertificate } from "../../../src/server/erasing/erasure-certificate.ts";
import { verifyErasure } from "../../../src/server/erasing/verify-erasure.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

const bob = { name: "bob", prefixes: ["@bob/"], memoryAgent: "gateway:@bob" };

/** A store with five conversations of a person, one of them with a child, memories and a token. */
async function fill(kernel: Kernel): Promise<void> {
  await kernel.team.add("bob", { by: "admin" });
  for (let number = 0; number < 5; number++) {
    await using session = await kernel.session(`@bob/chat:${number}`);
    for (let turn = 0; turn <= number; turn++)
      await session.append({ role: "user", text: `bob says ${turn}` });
  }
  await using parent = await kernel.session("@bob/chat:0");
  await using child = await parent.child({ id: "@bob/chat:0/agent-1" });
  await child.append({ role: "user", text: "bob asks an agent" });
  await kernel.memories(bob.memoryAgent).remember("The lamp is green.", { by: "user" });
  await using other = await kernel.session("@alice/chat");
  await other.append({ role: "user", text: "alice says hello" });
}

type Breaking = (kernel: Kernel, fail: () => never) => void;

/** Steps of an erasure at which its process dies, before or after the step. */
const CRASHES: readonly (readonly [string, Breaking])[] = [
  [
    "before the first conversation goes",
    (kernel, fail) => {
      kernel.deleteSession = async () => fail();
    },
  ],
  [
    "after the second conversation has gone",
    (kernel, fail) => {
      const remove = kernel.deleteSession.bind(kernel);
      let count = 0;
      kernel.deleteSession = async (...args) => {
        const freed = await remove(...args);
        return ++count === 2 ? fail() : freed;
      };
    },
  ],
  [
    "before tokens and budgets go",
    (kernel, fail) => {
      kernel.team.remove = async () => fail();
    },
  ],
  [
    "after tokens and budgets have gone",
    (kernel, fail) => {
      const remove = kernel.team.remove.bind(kernel.team);
      kernel.team.remove = async (...args) => {
        await remove(...args);
        return fail();
      };
    },
  ],
];

test.each(CRASHES)(
  "an erasure that a crash stopped %s is completed, and its certificate names everything",
  async (_, breakAt) => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path, embedder: null });
      await fill(kernel);
      breakAt(kernel, () => {
        throw new Error("killed here");
      });
      await expect(erasePerson(kernel, bob, { by: "admin" })).rejects.toThrow("killed here");
    }
    await using kernel = await openKernel({ path, embedder: null });
    expect(await requireErasable(kernel, bob)).toMatchObject({ sessions: 7, memories: 1, tokens: 1 });
    const delivered: ErasureCertificate[] = [];
    const deliver = (one: ErasureCertificate) => void delivered.push(one);
    const certificate = await erasePerson(kernel, bob, { by: "other admin", deliver });
    expect(delivered).toEqual([certificate]);
    expect(certificate.by).toBe("admin");
    expect(certificate.removed).toMatchObject({ sessions: 7, memories: 1, tokens: 1 });
    expect(certificate.removed.entries).toBeGreaterThanOrEqual(17);
    expect(certificate.sessions).toHaveLength(7);
    expect((await verifyErasure(kernel, bob, certificate)).problems).toEqual([]);
    expect((await kernel.sessions()).map(({ id }) => id)).toEqual(["@alice/chat"]);
    await expect(requireErasable(kernel, bob)).rejects.toMatchObject({ code: "PERSON_NOT_FOUND" });
  },
);

test("a gateway goes on with an interrupted erasure, and whoever repeats the call gets its certificate", async () => {
  const path = testFolder();
  {
    await using kernel = await openKernel({ path, embedder: null });
    await fill(kernel);
    kernel.deleteSession = async () => {
      throw new Error("killed here");
    };
    await expect(erasePerson(kernel, bob, { by: "admin" })).rejects.toThrow("killed here");
  }
  await using kernel = await openKernel({ path, embedder: null });
  const [resumed] = await resumePersonErasures(kernel);
  expect((await kernel.sessions()).map(({ id }) => id)).toEqual(["@alice/chat"]);
  expect(await kernel.maintenance.listErasures()).toEqual(["person bob"]);
  expect(await erasePerson(kernel, bob, { by: "admin" })).toEqual(resumed);
  expect(await kernel.maintenance.listErasures()).toEqual([]);
});

test("content that came after a certificate that nobody has seen is erased and named, too", async () => {
  await using kernel = await testKernel({ path: ":memory:", embedder: null });
  await fill(kernel);
  const deliver = () => {
    throw new Error("the disk of the certificate is full");
  };
  await expect(erasePerson(kernel, bob, { by: "admin", deliver })).rejects.toThrow("full");
  await using late = await kernel.session("@bob/late");
  await late.append({ role: "user", text: "bob is back" });
  const certificate = await erasePerson(kernel, bob, { by: "admin" });
  expect(certificate.removed.sessions).toBe(8);
  expect((await verifyErasure(kernel, bob, certificate)).problems).toEqual([]);
});

test("the counts of an erasure contain every memory, however many a page has", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const memories = kernel.memories("gateway:@bob");
  const most = 1_001;
  for (let number = 1; number <= most; number++)
    await memories.remember(`The lamp of room ${number} is green.`, { by: "user" });
  await kernel.team.add("bob", { by: "test" });
  const person = { name: "bob", prefixes: ["@bob/"], memoryAgent: "gateway:@bob" };
  expect((await requireErasable(kernel, person)).memories).toBe(most);
});
