import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { dropUndefined } from "../../../../model/base/drop-undefined.ts";
import { Lazy } from "../../../../model/base/lazy.ts";
import type { Digest } from "../../../../model/blob.ts";
import { LonghaulError } from "../../../../model/errors.ts";
import type { ObjectUrl } from "./object-url.ts";

/** How long a server may take until it begins to answer; an upload may take longer. */
const ANSWER_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 600_000;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 50;
const MAX_ERROR_CHARACTERS = 300;

/** A file that is uploaded. */
interface UploadFile {
  readonly path: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
}

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each attempt. */
  readonly openBody?: () => unknown;
  readonly timeoutMs?: number;
  /** The object may be missing. */
  readonly isOptional?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Objects of an S3-compatible storage, named by their digests. The digest of an upload is part of its signature, so that
 * the server itself refuses bytes that do not match. Failures of the network and of the server are tried again.
 */
export class ObjectClient {
  readonly place: string;
  readonly #url: ObjectUrl;
  readonly #env: NodeJS.ProcessEnv;
  readonly #client = new Lazy<AwsClient>(() => this.#create());

  constructor(url: ObjectUrl, env: NodeJS.ProcessEnv = process.env) {
    this.place = url.place;
    this.#url = url;
    this.#env = env;
  }

  async put({ path, digest, sizeBytes }: UploadFile, signal?: AbortSignal): Promise<void> {
    const response = await this.#send("PUT", digest, {
      timeoutMs: UPLOAD_TIMEOUT_MS,
      signal,
      headers: {
        "x-amz-content-sha256": digest,
        "content-length": String(sizeBytes),
        "content-type": "application/octet-stream",
      },
      openBody: () => (sizeBytes === 0 ? undefined : Readable.toWeb(createReadStream(path))),
    });
    await response.arrayBuffer();
  }

  /** The bytes of an object; undefined if it does not exist. */
  async get(digest: Digest): Promise<AsyncIterable<Uint8Array> | undefined> {
    const response = await this.#send("GET", digest, { isOptional: true });
    if (response.status === 404) {
      await response.arrayBuffer();
      return undefined;
    }
    return (response.body ?? []) as AsyncIterable<Uint8Array>;
  }

  /** Deletes an object; one that does not exist counts as deleted. */
  async delete(digest: Digest): Promise<void> {
    const response = await this.#send("DELETE", digest, { isOptional: true });
    await response.arrayBuffer();
  }

  async #send(method: "PUT" | "GET" | "DELETE", digest: Digest, options: SendOptions): Promise<Response> {
    const client = await this.#client.get();
    const url = `${this.#url.folder}${digest.slice(0, 2)}/${digest}`;
    for (let attempt = 1; ; attempt++) {
      let failure: unknown;
      try {
        const response = await this.#attempt(client, method, url, options);
        if (
          response.ok ||
          (response.status === 404 && options.isOptional && (await isObjectMissing(response)))
        )
          return response;
        const isTemporary = response.status >= 500 || response.status === 429 || response.status === 408;
        failure = this.#describe(method, response.status, await response.text().catch(() => ""));
        if (!isTemporary) throw failure;
      } catch (error) {
        if (error === failure) throw error;
        options.signal?.throwIfAborted();
        failure = error;
      }
      if (attempt === ATTEMPTS) {
        if (failure instanceof LonghaulError) throw failure;
        throw new LonghaulError(
          "STORE_IO",
          `The blob storage ${this.place} cannot be reached (${method}); check the endpoint in the setting blobs, and the network.`,
          { cause: failure, details: { store: this.place } },
        );
      }
      await sleep(FIRST_PAUSE_MS * 2 ** attempt * Math.random());
    }
  }

  async #attempt(
    client: AwsClient,
    method: string,
    url: string,
    { headers, openBody, timeoutMs = ANSWER_TIMEOUT_MS, signal }: SendOptions,
  ): Promise<Response> {
    const signed = await client.sign(url, { method, ...dropUndefined({ headers }) });
    // Only until the answer begins: reading a large blob may take longer.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      const body = openBody?.();
      return await fetch(signed.url, {
        method,
        headers: { ...headers, ...Object.fromEntries(signed.headers) },
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
        ...(body !== undefined && { body: body as ReadableStream, duplex: "half" }),
      } as RequestInit);
    } finally {
      clearTimeout(timer);
    }
  }

  #describe(method: string, status: number, text: string): LonghaulError {
    const reason = /<Code>([^<]+)<\/Code>/.exec(text)?.[1] ?? text.slice(0, MAX_ERROR_CHARACTERS);
    const remedy =
      status === 401 || status === 403
        ? "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the region, and that they may get, put and delete objects there"
        : status === 404 || status === 301 || status === 307
          ? "check the bucket, the region and the endpoint in the setting blobs"
          : "look at the storage's own log";
    return new LonghaulError(
      "STORE_IO",
      `The blob storage ${this.place} refused ${method} with ${status}${reason === "" ? "" : ` (${reason})`}; ${remedy}.`,
      { details: { store: this.place, status } },
    );
  }

  async #create(): Promise<AwsClient> {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = this.#env;
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
      throw new LonghaulError(
        "STORE_IO",
        `The blob storage ${this.place} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.`,
        { details: { store: this.place } },
      );
    const { AwsClient } = await import("aws4fetch");
    return new AwsClient({
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
      service: "s3",
      region: this.#url.region,
      retries: 0,
    });
  }
}

/** False if the answer is about the bucket: then everything would seem to be missing. */
async function isObjectMissing(response: Response): Promise<boolean> {
  const text = await response.clone().text();
  return !text.includes("NoSuchBucket");
}
