import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { buildPersonId } from "../../src/model/session-key.ts";
import { TestAgent } from "../support/agent.ts";
import { testFolder } from "../support/folder.ts";
import { ask, startGateway } from "../support/gateway.ts";
import { NAMES, peopleIn, startGatewayOfPeople } from "../support/many-people.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../support/people.ts";
import { proofCases, proofTest, sizedTest } from "../support/proof.ts";
import { says, startUpstream } from "../support/upstream.ts";
import { jsonHere, runHere } from "./support/here.ts";

/** A store in which every person has said a secret. */
async function storeOfPeople(): Promise<string> {
  const gateway = await startGatewayOfPeople();
  await gateway.close();
  return gateway.path;
}

describe("--as", () => {
  sizedTest("--as shows each person only their own conversations, whatever the person's name", async () => {
    const store = ["--store", await storeOfPeople()];
    for (const name of proofCases(NAMES, 3)) {
      const as = ["--as", name, ...store];
      // "local" is the person of a gateway without tokens, who has said nothing here; the token is written as an id.
      const own = name === "local" ? [] : [name];
      const { sessions } = (await jsonHere(["sessions", ...as])).value;
      expect(sessions.map(({ id }: { readonly id: string }) => id.split("/")[0])).toEqual(
        own.map(() => buildPersonId(name)),
      );
      for (const command of [
        ["recall", "how many turns open the vault", "--expand"],
        ["show", "last"],
        ["export", "last", "--to", "markdown"],
      ]) {
        const { stdout, stderr } = await runHere([...command, ...as]);
        expect(peopleIn(stdout + stderr)).toEqual(own);
      }
    }
    const { stdout } = await runHere(["show", "last", "--as", "@local", ...store]);
    expect(peopleIn(stdout)).toEqual(["local"]);
  });

  sizedTest(
    "--as refuses every name, number and prefix of another person's session, and reveals nothing about it",
    async () => {
      const path = await storeOfPeople();
      const store = ["--store", path];
      const all = (await jsonHere(["sessions", ...store])).value.sessions as readonly {
        readonly id: string;
        readonly number: number;
      }[];
      const others = all.filter(({ id }) => !id.startsWith("@alice/"));
      expect(others).toHaveLength(NAMES.length);
      for (const { id, number } of proofCases(others, 3)) {
        for (const which of [id, String(number), id.slice(0, -2), `../${id}`]) {
          for (const command of [
            ["show", which],
            ["show", which, "--json"],
            ["export", which, "--to", "markdown"],
            ["recall", "vault turns", "--session", which],
            ["sessions", "--before", which],
          ]) {
            const { stdout, stderr, code } = await runHere([...command, "--as", "alice", ...store]);
            expect(code).not.toBe(0);
            expect(peopleIn(stdout + stderr)).toEqual([]);
            // The error repeats the question and suggests only ids of the person.
            expect((stdout + stderr).replaceAll(which, "")).not.toContain(id);
          }
        }
      }
      const prefixed = await runHere([
        "recall",
        "vault turns",
        "--prefix",
        "../@bob",
        "--as",
        "alice",
        ...store,
      ]);
      expect(peopleIn(prefixed.stdout)).toEqual([]);
      for (const option of [
        ["--path", path],
        ["--agent", "default"],
      ]) {
        const { code, stderr } = await runHere(["recall", "vault", ...option, "--as", "alice", ...store]);
        expect(code).not.toBe(0);
        expect(stderr).toContain("cannot be combined");
      }
      const out = join(testFolder(), "out");
      await runHere([
        "export",
        "last",
        "--to",
        "markdown",
        "--children",
        "--out",
        out,
        "--as",
        "alice",
        ...store,
      ]);
      const written = readdirSync(out).map((file) => readFileSync(join(out, file), "utf8"));
      expect(peopleIn(written.join())).toEqual(["alice"]);
    },
  );

  test("--as recalls the memories of that person only, unless conversations are named", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      for (const name of ["alice", "alice2"])
        await kernel
          .memories(`gateway:@${name}`)
          .remember(`The vault of ${name} opens by ${name}.`, { by: "user" });
      await kernel.memories().remember("The vault of local opens by local.", { by: "user" });
      for (const id of ["@alice/1", "local/1"])
        await (await kernel.session(id)).append({ role: "user", text: `The vault is in ${id}.` });
    }
    const recalled = async (...options: readonly string[]) =>
      (await jsonHere(["recall", "who opens the vault", ...options, "--store", path])).value.hits
        .map(({ session }: { readonly session: string }) => session)
        .sort();
    expect(await recalled("--as", "alice")).toEqual(["@alice/1", "memory:gateway:@alice"]);
    expect(await recalled("--as", "local")).toEqual(["local/1", "memory:default"]);
    expect(await recalled("--as", "alice", "--session", "@alice/1")).toEqual(["@alice/1"]);
  });

  proofTest("--as finds a person's conversations from before people had names", async () => {
    const path = testFolder();
    const packed = readFileSync(new URL("../fixtures/store-by-credential.db.gz", import.meta.url));
    writeFileSync(join(path, "log.db"), gunzipSync(packed), { mode: 0o600 });
    const upstream = await startUpstream(says("Fine."));
    const gateway = await startGateway({ upstream: upstream.url, path, config: TWO_PEOPLE });
    for (const token of [ALICE_TOKEN, BOB_TOKEN])
      await ask(gateway, { method: "GET", path: "/api/v1/sessions", headers: { "x-longhaul-token": token } });
    await gateway.close();
    const titles = async (name: string) =>
      (await jsonHere(["sessions", "--as", name, "--store", path])).value.sessions.map(
        ({ title }: { readonly title: string }) => title,
      );
    expect(await titles("alice")).toEqual(["Alice asks about the amethyst."]);
    expect(await titles("bob")).toEqual(["Bob asks about the beryl."]);
    const shown = await runHere(["show", "last", "--as", "alice", "--store", path]);
    expect(shown.stdout).toContain("amethyst");
    const recalled = async (name: string) =>
      (await runHere(["recall", "amethyst or beryl", "--as", name, "--store", path])).stdout;
    expect(await recalled("alice")).toContain("amethyst");
    expect(await recalled("alice")).not.toContain("Bob asks");
    expect(await recalled("bob")).not.toContain("Alice asks");
    // Without tokens, one person owns all of them.
    const alone = await startGateway({ upstream: upstream.url, path });
    await new TestAgent(alone).say("Hello.");
    await alone.close();
    await using kernel = await openKernel({ path });
    const all = await kernel.sessions({ limit: 1_000 });
    expect(await titles("local")).toHaveLength(all.length);
  });
});
