import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request that the server received. */
interface ObjectRequest {
  readonly method: string;
  readonly path: string;
  readonly contentLength: string | undefined;
}

/** An S3-compatible server in memory, which checks signatures and digests as AWS documents them. */
export interface ObjectServer {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  readonly requests: ObjectRequest[];
  /** Credentials that it accepts, as environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Answers the next requests of a method with a status; replaces earlier failures. */
  failNext(method: string, status: number, count: number): void;
  /** Called before a request of this method takes effect. */
  before: ((method: string, path: string) => Promise<void>) | undefined;
}

const ACCESS_KEY = "AKIATEST";
const SECRET = "a secret/with+signs=";
const REGION = "test-region";
export const OBJECT_BUCKET = "blobs-of-tests";

export async function startObjectServer(): Promise<ObjectServer> {
  const failures: { method: string; status: number }[] = [];
  const state = {
    objects: new Map<string, Buffer>(),
    requests: [] as ObjectRequest[],
    before: undefined as ObjectServer["before"],
  };
  const http = createServer((request, response) => {
    answer(request, response, state, failures).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return Object.assign(state, {
    endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    env: { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET, AWS_REGION: REGION },
    failNext: (method: string, status: number, count: number) => {
      failures.splice(0);
      for (let index = 0; index < count; index++) failures.push({ method, status });
    },
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  state: Pick<ObjectServer, "objects" | "requests" | "before">,
  failures: { method: string; status: number }[],
): Promise<void> {
  const { method = "", url = "/", headers } = request;
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const refuse = (status: number, code: string) => {
    response.writeHead(status, { "content-type": "application/xml" });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
  };
  state.requests.push({ method, path: url, contentLength: headers["content-length"] });
  const failure = failures.findIndex((one) => one.method === method);
  if (failure >= 0) return refuse(failures.splice(failure, 1)[0]?.status ?? 500, "SlowDown");
  if (!isSigned(request)) return refuse(403, "SignatureDoesNotMatch");
  const hash = headers["x-amz-content-sha256"];
  if (hash !== "UNSIGNED-PAYLOAD" && hash !== createHash("sha256").update(body).digest("hex"))
    return refuse(400, "XAmzContentSHA256Mismatch");
  const [, bucket, ...key] = new URL(url, "http://host").pathname.split("/");
  if (bucket !== OBJECT_BUCKET) return refuse(404, "NoSuchBucket");
  const name = decodeURIComponent(key.join("/"));
  await state.before?.(method, name);
  if (method === "PUT") {
    if (headers["content-length"] === undefined) return refuse(411, "MissingContentLength");
    state.objects.set(name, body);
    response.writeHead(200).end();
    return;
  }
  if (method === "DELETE") {
    state.objects.delete(name);
    response.writeHead(204).end();
    return;
  }
  const found = state.objects.get(name);
  if (!found) return refuse(404, "NoSuchKey");
  response.writeHead(200, { "content-length": found.length }).end(found);
}

/** Signature version 4, computed again from the request. */
function isSigned({ method = "", url = "/", headers }: IncomingMessage): boolean {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  const [, credential = "", signedHeaders = "", signature] = parts ?? [];
  const [accessKey, date = "", region = "", service = "", end] = credential.split("/");
  if (accessKey !== ACCESS_KEY || region !== REGION || service !== "s3" || end !== "aws4_request")
    return false;
  const { pathname, searchParams } = new URL(url, "http://host");
  searchParams.sort();
  const names = signedHeaders.split(";");
  if (!names.includes("host")) return false;
  const canonical = [
    method,
    pathname,
    searchParams.toString(),
    ...names.map((name) => `${name}:${String(headers[name] ?? "").trim()}`),
    "",
    signedHeaders,
    headers["x-amz-content-sha256"] ?? "",
  ].join("\n");
  const time = String(headers["x-amz-date"]);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash("sha256").update(canonical).digest("hex")}`;
  const key = [date, region, service, "aws4_request"].reduce<Buffer | string>(
    (last, part) => createHmac("sha256", last).update(part).digest(),
    `AWS4${SECRET}`,
  );
  return signature === createHmac("sha256", key).update(toSign).digest("hex");
}
