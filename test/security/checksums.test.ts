import { createHash } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLonghaulError, openKernel } from "../../src/kernel/index.ts";
import { decodePayload, encodePayload } from "../../src/log/codec.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, textOf } from "../support/kernel.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import { damageBlob, damageEntry } from "./damage.ts";

const TEXTS = [
  "short",
  JSON.stringify({ text: "some words that pack well; ".repeat(40) }),
  "0123456789abcdef".repeat(800),
];

describe("a payload", () => {
  test("a payload with one flipped bit never reads as another text", () => {
    for (const text of TEXTS) {
      const whole = encodePayload(text, "message");
      for (let bit = 0; bit < Math.min(whole.length * 8, 4_000); bit++) {
        const damaged = Buffer.from(whole);
        damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(() => decodePayload(damaged, "message"), `bit ${bit}`).toThrow(
          expect.objectContaining({ code: "STORE_CORRUPT" }),
        );
      }
    }
  });

  test("a payload is not read as a payload of another kind", () => {
    for (const text of TEXTS)
      expect(() => decodePayload(encodePayload(text, "notice"), "message")).toThrow(/damaged/);
  });

  test("a payload with any bytes changed is refused", () => {
    const whole = encodePayload(TEXTS[1] as string, "message");
    const change = fc.record({
      at: fc.nat(whole.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
    });
    fc.assert(
      fc.property(change, ({ at, bytes }) => {
        const damaged = Buffer.from(whole);
        damaged.set(bytes.subarray(0, whole.length - at), at);
        if (damaged.equals(whole)) return;
        expect(() => decodePayload(damaged, "message")).toThrow(/damaged/);
      }),
    );
  });

  test("a payload that was written before there were checksums is still read", () => {
    for (const text of TEXTS) {
      const whole = Buffer.from(encodePayload(text, "message"));
      const old = Buffer.concat([Buffer.from([(whole[0] as number) & 3]), whole.subarray(5)]);
      expect(decodePayload(old, "message")).toBe(text);
    }
  });
});

describe("a flipped bit in the database file", () => {
  sizedTest(
    "a flipped bit in the database file never shows another text: it is harmless, noticed, or costs entries that check reports",
    async () => {
      const path = testFolder();
      const said = new Map<number, string>();
      {
        await using kernel = await openKernel({ path });
        await using session = await kernel.session("s");
        for (let n = 1; n <= 120; n++) {
          const digests = Array.from({ length: 12 }, (_, part) =>
            createHash("sha512").update(`${n} ${part}`).digest("base64"),
          );
          const text = `${n} ${digests.join(" ")}`;
          said.set((await session.append({ role: n % 2 ? "user" : "assistant", text })).seq, text);
        }
      }
      const file = readFileSync(join(path, "log.db"));
      const flips = proofRounds(200, 40);
      let noticed = 0;
      for (let flip = 0; flip < flips; flip++) {
        const copy = testFolder();
        cpSync(path, copy, { recursive: true });
        const bytes = Buffer.from(file);
        const at = (flip * 7_919 + 1_024) % bytes.length;
        bytes[at] = (bytes[at] as number) ^ (1 << (flip % 8));
        writeFileSync(join(copy, "log.db"), bytes);
        noticed += await isNoticed(copy, said);
      }
      expect(noticed).toBeGreaterThan(flips / 2);
    },
  );
});

/** Returns 1 if a reader or a check reports damage; throws if a changed text is read silently. */
async function isNoticed(path: string, said: ReadonlyMap<number, string>): Promise<number> {
  try {
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    const { damages } = await kernel.check();
    let shown = 0;
    for (const [seq, text] of said) {
      const entry = await session.entry(seq);
      if (entry?.kind !== "message") continue;
      expect(textOf(entry)).toBe(text);
      shown++;
    }
    if (shown < said.size) expect(damages).toBeGreaterThan(0);
    return damages > 0 ? 1 : 0;
  } catch (error) {
    if (!isLonghaulError(error)) throw error;
    return 1;
  }
}

describe("a damaged blob", () => {
  const data = Buffer.from(`%PDF-1.7 ${"x".repeat(5_000)}`);
  const append = { role: "user", parts: [{ type: "data", data }] } as const;

  test("a damaged blob is healed by appending its data again", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const { message } = await session.append(append);
    const [part] = message.parts;
    const digest = part?.type === "blob" ? part.digest : "";
    damageBlob(path, digest);
    kernel.blobs.dropCache();
    await expect(kernel.blobs.bytes(digest)).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
    await session.append(append);
    expect(Buffer.from(await kernel.blobs.bytes(digest)).equals(data)).toBe(true);
  });
});

describe("a check", () => {
  test("a check names every damaged entry, missing entry and damaged blob, and finds nothing in a whole store", async () => {
    const path = testFolder();
    let digest = "";
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      for (let n = 1; n <= 20; n++)
        await session.append({ role: "user", text: `message ${n} of the session` });
      const data = Buffer.from(`%PDF-1.7 ${"y".repeat(5_000)}`);
      const { message } = await session.append({ role: "user", parts: [{ type: "data", data }] });
      digest = message.parts[0]?.type === "blob" ? message.parts[0].digest : "";
      expect(await kernel.check()).toMatchObject({
        sessions: 1,
        entries: 21,
        blobs: 1,
        damages: 0,
        listed: [],
      });
    }
    damageEntry(path, "s", 5);
    damageBlob(path, digest);
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec(`DELETE FROM entries WHERE key % ${2 ** 30} = 9`);
    db.close();
    await using kernel = await openKernel({ path, readOnly: true });
    const { damages, listed } = await kernel.check();
    expect(damages).toBe(3);
    expect(listed.map(({ kind, entry }) => [kind, entry])).toEqual([
      ["entry", "s#5"],
      ["entry", "s#9"],
      ["blob", "s#21"],
    ]);
  });

  test("a check says which entries were written without a checksum", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      await session.append({ role: "user", text: "written by an older version" });
    }
    damageEntry(path, "s", 1, (payload) =>
      Buffer.concat([Buffer.from([(payload[0] as number) & 3]), payload.subarray(5)]),
    );
    await using kernel = await openKernel({ path });
    expect(await kernel.check()).toMatchObject({ damages: 0, withoutChecksum: 1 });
    expect(textOf(await (await kernel.session("s")).entry(1))).toBe("written by an older version");
  });
});
