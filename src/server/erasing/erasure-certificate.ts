import { LonghaulError } from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";

/** Identifies the document. */
const FORMAT = "longhaul erasure certificate";
const VERSION = 1;

/** A session that was erased; the certificate names its id and content only by their digests. */
export interface ErasedSession {
  /** SHA-256 of the id. */
  readonly id: string;
  readonly entries: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** SHA-256 over all entries. */
  readonly digest: string;
}

/** Counts of everything that was erased. */
export interface ErasedCounts {
  readonly sessions: number;
  readonly entries: number;
  readonly memories: number;
  readonly tasks: number;
  readonly blobs: number;
  readonly tokens: number;
  readonly budgets: number;
}

/** A record of the erasure of a person, without the erased content. */
export interface ErasureCertificate {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  readonly person: string;
  readonly by: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly removed: ErasedCounts;
  readonly sessions: readonly ErasedSession[];
  /** Digests of blobs that only this person's conversations referred to. */
  readonly blobs: readonly string[];
  /** Blobs that conversations of others refer to as well, and that therefore stay. */
  readonly sharedBlobs: number;
  /** False while bytes of the content are left in the files of the database; `longhaul gc --vacuum` rewrites them. */
  readonly scrubbed: boolean;
  /** SHA-256 over all other fields. */
  readonly digest: string;
}

/** Completes a certificate with its digest. */
export function signCertificate(
  facts: Omit<ErasureCertificate, "format" | "version" | "digest">,
): ErasureCertificate {
  const unsigned = { format: FORMAT, version: VERSION, ...facts } as const;
  return { ...unsigned, digest: digestCertificate(unsigned) };
}

/** Parses a certificate; throws ARGUMENT_INVALID for other documents. Its digest is not checked. */
export function parseCertificate(text: string): ErasureCertificate {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { format, version, sessions, blobs, removed } = (value ?? {}) as Partial<ErasureCertificate>;
  const isOurs = format === FORMAT && Array.isArray(sessions) && Array.isArray(blobs) && removed;
  if (isOurs && version === VERSION) {
    const unknown = findUnknownField(value as ErasureCertificate);
    if (unknown === undefined) return value as ErasureCertificate;
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      `The certificate was changed: it has a field ${JSON.stringify(unknown.slice(0, 80))}, which its digest does not cover.`,
    );
  }
  throw new LonghaulError(
    "ARGUMENT_INVALID",
    isOurs
      ? `The certificate has version ${version}; this longhaul reads version ${VERSION}.`
      : 'The file is no certificate of "longhaul forget --person"; name its JSON file.',
  );
}

const FIELDS = {
  certificate:
    "format version person by startedAt finishedAt removed sessions blobs sharedBlobs scrubbed digest",
  removed: "sessions entries memories tasks blobs tokens budgets",
  session: "id entries firstAt lastAt digest",
};

/** Finds a field that certificates do not have, because nobody may add a claim to a valid certificate. */
function findUnknownField(certificate: ErasureCertificate): string | undefined {
  const parts: readonly (readonly [object, string])[] = [
    [certificate, FIELDS.certificate],
    [certificate.removed, FIELDS.removed],
    ...certificate.sessions.map((session) => [session, FIELDS.session] as const),
  ];
  for (const [part, fields] of parts) {
    const unknown = Object.keys(part).find((name) => !fields.split(" ").includes(name));
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

/** The digest that a certificate must have. */
export function digestCertificate(certificate: Omit<ErasureCertificate, "digest">): string {
  const { person, by, startedAt, finishedAt, removed, sessions, blobs, sharedBlobs, scrubbed } = certificate;
  const { sessions: count, entries, memories, tasks, blobs: blobCount, tokens, budgets } = removed;
  return computeDigest(
    JSON.stringify([
      [FORMAT, VERSION, person, by, startedAt, finishedAt],
      [count, entries, memories, tasks, blobCount, tokens, budgets],
      sessions.map(({ id, entries: length, firstAt, lastAt, digest }) => [
        id,
        length,
        firstAt,
        lastAt,
        digest,
      ]),
      [blobs, sharedBlobs, scrubbed],
    ]),
  );
}

/** The name of the file for a certificate. */
export function buildCertificateName({ person, finishedAt, digest }: ErasureCertificate): string {
  const day = new Date(finishedAt).toISOString().slice(0, 10);
  return `erasure-${person.replace(/[^\w.-]+/g, "-")}-${day}-${digest.slice(0, 8)}.json`;
}

/** A certificate as text for people. */
export function formatCertificate(certificate: ErasureCertificate): string {
  const { person, by, startedAt, finishedAt, removed, sharedBlobs, scrubbed, digest } = certificate;
  const rows: readonly (readonly [string, string | number])[] = [
    ["person", person],
    ["erased by", by],
    ["begun", new Date(startedAt).toISOString()],
    ["finished", new Date(finishedAt).toISOString()],
    ["conversations", removed.sessions],
    ["entries", removed.entries],
    ["memories", removed.memories],
    ["tasks", removed.tasks],
    ["blobs", `${removed.blobs}${sharedBlobs > 0 ? ` (${sharedBlobs} others are shared and stay)` : ""}`],
    ["tokens", removed.tokens],
    ["budgets", removed.budgets],
    ["digest", digest],
  ];
  const lines = rows.map(([name, value]) => `${name.padEnd(14)}${value}`);
  return [
    "Certificate of erasure",
    "",
    ...lines,
    "",
    ...(scrubbed
      ? []
      : [
          "No query returns the content any more, but bytes of it are left in the files of the database until these are rewritten:",
          '"longhaul gc --vacuum" does that, and "longhaul check --erased FILE" reads the files.',
        ]),
    "Backups taken before, and logs and standbys of a database server, hold the content until they are deleted.",
    "",
  ].join("\n");
}
