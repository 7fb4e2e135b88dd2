import { z } from "zod";
import { POLICIES } from "../../../kernel/faces/window.ts";
import { hasPassword, isPostgresUrl } from "../../../model/base/postgres-url.ts";
import type { WireName } from "../../../wire/wire.ts";

/** The supported APIs, by their names in the configuration. */
export const API_NAMES = [
  "anthropic",
  "openai-chat",
  "openai-responses",
  "google",
] as const satisfies WireName[];

/** Text that is not empty. Every error message of these schemas is the expected value; the reporter adds the key. */
export const textSchema = (expected: string) => z.string({ error: expected }).min(1, { error: expected });

const NAME = "a name of the person who uses the token, at most 100 characters in one line";

/** The name of a person, which becomes part of session ids. */
export const nameSchema = () =>
  z
    .string({ error: NAME })
    .min(1, { error: NAME })
    .max(100, { error: NAME })
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: NAME });

export const flagSchema = () => z.boolean({ error: "true or false" });

/** A whole number within a range, inclusive. */
export const wholeSchema = (min: number, max: number, unit = "") => {
  const error = `a whole number from ${min} to ${max}${unit && ` ${unit}`}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

/** A share from 0 to 1. */
export const shareSchema = () => {
  const error = "a number from 0 to 1, such as 0.1 for a tenth";
  return z.number({ error }).min(0, { error }).max(1, { error });
};

/** A time in milliseconds, up to one day. */
export const millisecondsSchema = () => wholeSchema(1, 86_400_000, "(milliseconds)");

const STORE_URL = "a URL that begins with postgres://";
const NO_PASSWORD =
  "a URL without a password, which belongs into PGPASSWORD, ~/.pgpass or, with the whole URL, LONGHAUL_STORE";

/** The URL of a database; the file holds no secrets. */
export const storeUrlSchema = () =>
  z
    .string({ error: STORE_URL })
    .refine(isPostgresUrl, { error: STORE_URL })
    .refine((url) => !hasPassword(url), { error: NO_PASSWORD });

/** One of several words. */
export const oneOfSchema = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `one of ${words.join(", ")}` });

export const textListSchema = (expected: string) =>
  z.array(textSchema(expected), { error: `a list, each ${expected}` });

const POLICY_NAMES = POLICIES.map(({ name }) => name) as [string, ...string[]];

export const policyNameSchema = () => oneOfSchema(POLICY_NAMES);

const ADDRESS = "an address as https://host or http://host:port/v1, without user name, ? or #";

/** The address of an upstream. */
export const addressSchema = () =>
  z.string({ error: ADDRESS }).refine(isAddress, { error: ADDRESS }).meta({ format: "uri" });

function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "" && !/[?#]/.test(value);
}

const PROVIDER = "an address that begins with https, or with http on this computer";

/** The address of a server that is believed: nobody in between may speak for it. */
export const providerSchema = () =>
  addressSchema().refine((value) => !/^http:/i.test(value) || isLoopback(new URL(value).hostname), {
    error: PROVIDER,
  });

const ORIGIN = "an address as https://host or http://host:port, without a path";

/** The address of a server, without a path. */
export const originSchema = () =>
  z
    .string({ error: ORIGIN })
    .refine((value) => isAddress(value) && new URL(value).pathname === "/", { error: ORIGIN })
    .transform((value) => new URL(value).origin)
    .meta({ format: "uri" });

/** True if only this computer can reach the host. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, "");
  return plain === "localhost" || plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** The address by which this computer reaches a server that may listen on all of its addresses. */
export function toOpenableUrl(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${toOpenableHost(hostname.replace(/^\[|\]$/g, ""))}${port && `:${port}`}`;
}

/** An address that stands for all addresses of the computer is reached at its loopback address. */
export function toOpenableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
