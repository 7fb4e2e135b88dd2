import { FaultError } from "../../../wire/fault-error.ts";
import type { UpstreamUrl } from "./send-upstream.ts";
import { filterHeaders, findRawHeader, type RawHeaders } from "./upstream-headers.ts";

/** True for a path of Amazon Bedrock, whose requests are signed. */
export function isSignedPath(path: string): boolean {
  return path.startsWith("/model/");
}

/** The parts of a request that its signature covers. */
interface SignedRequest {
  readonly url: UpstreamUrl;
  readonly method: string;
  readonly body: readonly Uint8Array[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const SIGNATURE_HEADERS = /^(?:authorization|x-amz-(?:date|security-token|content-sha256))$/;
/** Headers that the signature must cover. */
const SIGNED_HEADERS = /^(?:content-type|accept|x-amzn-.*)$/;

/**
 * The headers of a request with a signature for Amazon. The client's own signature covers the gateway's address, so it is
 * made again with the credentials of the gateway; a Bedrock API key is forwarded as it is. Throws `FaultError` if neither
 * is there.
 */
export async function signForAws(rawHeaders: RawHeaders, signed: SignedRequest): Promise<string[]> {
  const { url, method, body, env } = signed;
  if (/^\s*bearer\s/i.test(findRawHeader(rawHeaders, "authorization") ?? "")) return [...rawHeaders];
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) throw new FaultError(UNSIGNED);
  const region = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(url.hostname)?.[1] ?? env.AWS_REGION;
  const kept = filterHeaders(rawHeaders, (name) => !SIGNATURE_HEADERS.test(name));
  const covered = filterHeaders(kept, (name) => SIGNED_HEADERS.test(name));
  const { AwsV4Signer } = await import("aws4fetch");
  const signer = new AwsV4Signer({
    url: `${url.protocol}//${url.host}${url.path}`,
    method,
    headers: toPairs(covered),
    body: Buffer.concat(body ?? []),
    accessKeyId,
    secretAccessKey,
    service: "bedrock",
    region: region ?? "us-east-1",
    ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
  });
  const { headers } = await signer.sign();
  const added = [...headers].filter(([name]) => SIGNATURE_HEADERS.test(name)).flat();
  return [...kept, ...added];
}

const UNSIGNED = {
  status: 401,
  kind: "unauthorized",
  message:
    "The AWS signature of this request covers the gateway's own address, so Bedrock would refuse it, and the gateway has no credentials to make another: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) where the gateway runs, or send a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK at the client).",
} as const;

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
    rawHeaders[2 * at] as string,
    rawHeaders[2 * at + 1] as string,
  ]);
}
