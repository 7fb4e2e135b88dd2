import { createHash } from "node:crypto";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Blobs } from "../../../../src/log/blobs.ts";
import { resolveLimits } from "../../../../src/log/limits.ts";
import type { Store } from "../../../../src/log/store/store.ts";
import { systemClock } from "../../../../src/model/clock.ts";
import { openPostgresStore } from "../../../../src/stores/postgres/index.ts";
import { storeSuite } from "../../../../src/stores/testing/index.ts";
import { OBJECT_BUCKET, type ObjectServer, startObjectServer } from "../../../support/object-server.ts";
import {
  createSchemaUrl,
  describeProblem,
  findTestPostgres,
} from "../../../support/postgres/test-postgres.ts";
import { proofTest } from "../../../support/proof.ts";

const server = await findTestPostgres();
const OPTIONS = { maxBytes: 100_000_000 };

interface ObjectStore {
  readonly objects: ObjectServer;
  readonly url: string;
  readonly store: Store;
  /** Another program on the same database. */
  open(blobs?: string | null): Promise<Store>;
}

async function openObjectStore(): Promise<ObjectStore> {
  const objects = await startObjectServer();
  for (const [name, value] of Object.entries(objects.env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const url = createSchemaUrl(server);
  const own = `s3://${OBJECT_BUCKET}/some/place?endpoint=${encodeURIComponent(objects.endpoint)}`;
  const open = async (blobs: string | null = own) => {
    const store = await openPostgresStore({ url, ...(blobs !== null && { blobs }) });
    onTestFinished(() => store.close());
    return store;
  };
  return { objects, url, store: await open(), open };
}

async function readAll(store: Store, digest: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of store.blobs.read(digest)) parts.push(part);
  return Buffer.concat(parts);
}

async function countPieces(url: string): Promise<number> {
  const schema = new URL(url).searchParams.get("schema");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${schema}.blob_pieces`);
  await client.end();
  return rows[0].count;
}

describe.skipIf("problem" in server)(`blobs in S3 (${describeProblem(server)})`, () => {
  test("a blob in S3 is an object under its digest, and the database holds none of its bytes", async () => {
    const { objects, url, store } = await openObjectStore();
    const bytes = Buffer.alloc(3_000_000, "longhaul ");
    const parts = [bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)];
    const { digest, sizeBytes, created } = await store.blobs.write(parts, OPTIONS);
    expect([sizeBytes, created]).toEqual([3_000_000, true]);
    expect(digest).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect([...objects.objects.keys()]).toEqual([`some/place/${digest.slice(0, 2)}/${digest}`]);
    expect(objects.requests.map(({ contentLength }) => contentLength)).toEqual(["3000000"]);
    expect((await readAll(store, digest)).equals(bytes)).toBe(true);
    expect(await countPieces(url)).toBe(0);
    const again = await store.blobs.write([bytes], OPTIONS);
    expect([again.digest, again.created]).toEqual([digest, false]);
    expect(objects.requests.filter(({ method }) => method === "PUT")).toHaveLength(1);
    expect((await store.blobs.write([], OPTIONS)).sizeBytes).toBe(0);
  });

  test("a storage that sends too few or too many bytes is reported, and not read further", async () => {
    const { objects, store } = await openObjectStore();
    const { digest } = await store.blobs.write([Buffer.from("the right bytes")], OPTIONS);
    const [path = ""] = objects.objects.keys();
    for (const [wrong, words] of [
      ["short", "sent 5"],
      ["<html>Sign in to the portal</html>", "sent more"],
    ] as const) {
      objects.objects.set(path, Buffer.from(wrong));
      await expect(readAll(store, digest)).rejects.toMatchObject({
        code: "BLOB_CORRUPT",
        message: expect.stringContaining(words),
      });
    }
    objects.objects.delete(path);
    await expect(readAll(store, digest)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
  });

  proofTest(
    "an object is deleted with its last reference, later if the storage fails, and never while somebody writes it",
    async () => {
      const { objects, store, open } = await openObjectStore();
      const text = [Buffer.from("the same content")];
      const first = await store.blobs.write(text, OPTIONS);
      objects.failNext("DELETE", 503, 100);
      await store.blobs.release([first.hold]);
      expect(await store.blobs.sizeOf(first.digest)).toBeUndefined();
      expect(objects.objects.size).toBe(1);
      await expect(store.blobs.collect()).rejects.toThrow(
        /s3:\/\/blobs-of-tests\/some\/place refused DELETE with 503/,
      );
      objects.failNext("DELETE", 503, 0);
      // Another gateway writes the content while this one is about to delete it.
      const other = await open();
      let writing: Promise<{ digest: string; hold: string }> | undefined;
      objects.before = async (method) => {
        if (method === "DELETE") writing ??= other.blobs.write(text, OPTIONS);
      };
      for (let rounds = 0; objects.objects.size > 0 && !writing && rounds < 50; rounds++)
        await store.blobs.collect().catch(() => undefined);
      const { digest, hold } = (await writing) as { digest: string; hold: string };
      objects.before = undefined;
      await store.blobs.collect();
      expect((await readAll(other, digest)).toString()).toBe("the same content");
      await other.blobs.release([hold]);
      expect(objects.objects.size).toBe(0);
    },
  );

  test("damaged objects, missing objects, wrong keys and unknown places are reported differently", async () => {
    const { objects, store, open } = await openObjectStore();
    const { digest } = await store.blobs.write([Buffer.from("content")], OPTIONS);
    const [key = ""] = objects.objects.keys();
    const blobs = new Blobs(store.blobs, resolveLimits(), systemClock);
    objects.objects.set(key, Buffer.from("damaged"));
    await expect(blobs.bytes(digest)).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
    objects.objects.delete(key);
    await expect(readAll(store, digest)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    await expect(readAll(await open(null), digest)).rejects.toThrow(
      /is in s3:\/\/blobs-of-tests\/some\/place, which this program does not know/,
    );
    const endpoint = `endpoint=${encodeURIComponent(objects.endpoint)}`;
    const lost = await open(`s3://another-bucket/?${endpoint}`);
    await expect(lost.blobs.write([Buffer.from("x")], OPTIONS)).rejects.toThrow(
      /NoSuchBucket.*check the bucket/,
    );
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "another");
    const stranger = await open();
    await expect(stranger.blobs.write([Buffer.from("y")], OPTIONS)).rejects.toThrow(
      /403 \(SignatureDoesNotMatch\); check AWS_ACCESS_KEY_ID/,
    );
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "");
    await expect((await open()).blobs.write([Buffer.from("y")], OPTIONS)).rejects.toThrow(
      /needs AWS_ACCESS_KEY_ID/,
    );
    expect(objects.objects.size).toBe(0);
  });

  proofTest("a busy storage is retried", async () => {
    const { objects, store } = await openObjectStore();
    objects.failNext("PUT", 503, 2);
    const { digest } = await store.blobs.write([Buffer.from("content")], OPTIONS);
    objects.failNext("GET", 500, 1);
    expect((await readAll(store, digest)).toString()).toBe("content");
  });

  const cases = storeSuite(async () => (await openObjectStore()).store);
  for (const { name, run } of cases)
    if (/^(blobs|deletion|redaction)/.test(name))
      proofTest(`a store with objects meets its contract: ${name}`, run);
});
