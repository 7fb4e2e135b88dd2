import { createArgumentError } from "../../../../model/errors.ts";

/** A place for blobs in an S3-compatible storage. */
export interface ObjectUrl {
  /** Names the place in the database: the bucket and the prefix, without the address of the server. */
  readonly place: string;
  /** The URL of the folder that holds the blobs, ending in a slash. */
  readonly folder: string;
  readonly region: string;
}

const EXPECTED =
  "s3://bucket/prefix, with ?endpoint=https://… for a server other than AWS and ?region=… for another region";

/**
 * Reads `s3://bucket/prefix?endpoint=https://host&region=eu-central-1`. A named server is addressed by path, because few
 * of them have a host name for each bucket.
 */
export function parseObjectUrl(text: string, env: NodeJS.ProcessEnv = process.env): ObjectUrl {
  const parts = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/[^?#]*)?(?:\?([^#]*))?$/.exec(text);
  if (!parts) throw createArgumentError("blobs", text, EXPECTED);
  const [, bucket = "", path = "", query = ""] = parts;
  const prefix = path.split("/").filter(Boolean).map(decodeURIComponent).join("/");
  const parameters = new URLSearchParams(query);
  const region = parameters.get("region") ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? "us-east-1";
  const endpoint = parameters.get("endpoint") ?? env.AWS_ENDPOINT_URL_S3 ?? undefined;
  for (const name of ["region", "endpoint"]) parameters.delete(name);
  const [unknown] = parameters.keys();
  if (unknown !== undefined) throw createArgumentError("blobs", unknown, EXPECTED);
  if (endpoint !== undefined && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint))
    throw createArgumentError("endpoint", endpoint, "a URL such as https://storage.example:9000");
  const host = endpoint?.replace(/\/$/, "");
  const root = host === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${host}/${bucket}`;
  const encoded = prefix.split("/").map(encodeURIComponent).join("/");
  return {
    place: `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`,
    folder: `${root}/${prefix === "" ? "" : `${encoded}/`}`,
    region,
  };
}
