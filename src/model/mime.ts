import { createArgumentError, LonghaulError } from "./errors.ts";

/** Magic bytes of a file type; `at` is their offset. */
interface Signature {
  readonly mime: string;
  readonly at: number;
  readonly bytes: readonly number[];
  /** Further bytes that must match, for containers that share their first bytes (RIFF, ISO media). */
  readonly and?: { readonly at: number; readonly text: string };
}

const SIGNATURES: readonly Signature[] = [
  { mime: "image/png", at: 0, bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { mime: "image/jpeg", at: 0, bytes: [0xff, 0xd8, 0xff] },
  { mime: "image/gif", at: 0, bytes: [0x47, 0x49, 0x46, 0x38] },
  { mime: "image/webp", at: 0, bytes: [0x52, 0x49, 0x46, 0x46], and: { at: 8, text: "WEBP" } },
  { mime: "image/avif", at: 4, bytes: [0x66, 0x74, 0x79, 0x70], and: { at: 8, text: "avif" } },
  { mime: "image/heic", at: 4, bytes: [0x66, 0x74, 0x79, 0x70], and: { at: 8, text: "heic" } },
  { mime: "image/tiff", at: 0, bytes: [0x49, 0x49, 0x2a, 0x00] },
  { mime: "image/tiff", at: 0, bytes: [0x4d, 0x4d, 0x00, 0x2a] },
  { mime: "image/bmp", at: 0, bytes: [0x42, 0x4d] },
  { mime: "application/pdf", at: 0, bytes: [0x25, 0x50, 0x44, 0x46, 0x2d] },
  { mime: "audio/wav", at: 0, bytes: [0x52, 0x49, 0x46, 0x46], and: { at: 8, text: "WAVE" } },
  { mime: "audio/mpeg", at: 0, bytes: [0x49, 0x44, 0x33] },
  { mime: "audio/ogg", at: 0, bytes: [0x4f, 0x67, 0x67, 0x53] },
  { mime: "video/mp4", at: 4, bytes: [0x66, 0x74, 0x79, 0x70] },
  { mime: "video/webm", at: 0, bytes: [0x1a, 0x45, 0xdf, 0xa3] },
  { mime: "application/gzip", at: 0, bytes: [0x1f, 0x8b] },
  { mime: "application/zip", at: 0, bytes: [0x50, 0x4b, 0x03, 0x04] },
];

/** Number of leading bytes that `sniffMime` needs. */
export const SNIFF_BYTES = 16;

/** The type indicated by the first bytes of a file, or undefined. */
export function sniffMime(head: Uint8Array): string | undefined {
  if (!(head instanceof Uint8Array)) throw createArgumentError("head", head, "bytes");
  return SIGNATURES.find((signature) => matches(signature, head))?.mime;
}

function matches({ at, bytes, and }: Signature, head: Uint8Array): boolean {
  if (!bytes.every((byte, index) => head[at + index] === byte)) return false;
  return !and || [...and.text].every((character, index) => head[and.at + index] === character.charCodeAt(0));
}

/** Types that always have a signature, so that a missing one proves a wrong label. */
const ALWAYS_SIGNED = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]);

/** Aliases of types. */
const SAME_AS: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/heif": "image/heic",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
};

/** Determines a blob's type from its label and its first bytes; throws MIME_MISMATCH if they contradict each other. */
export function decideMime(declared: string | undefined, head: Uint8Array): string {
  const sniffed = sniffMime(head);
  if (declared === undefined || declared === "") return sniffed ?? "application/octet-stream";
  const bare = (declared.split(";")[0] ?? "").trim().toLowerCase();
  const label = SAME_AS[bare] ?? bare;
  if (!/^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/.test(label)) {
    throw new LonghaulError(
      "MIME_MISMATCH",
      `${JSON.stringify(declared.slice(0, 80))} is not a MIME type; give one like "image/png" or leave it out.`,
    );
  }
  if (sniffed === label || (sniffed === undefined && !ALWAYS_SIGNED.has(label))) return label;
  // Containers hold other types (a .docx is a zip); only labels with their own signature can be proven wrong.
  if (sniffed !== undefined && !label.startsWith("image/") && !ALWAYS_SIGNED.has(label)) return label;
  throw new LonghaulError(
    "MIME_MISMATCH",
    `The data is labelled ${label} but its bytes are ${sniffed ?? "not of that type"}; correct the label or the data. Nothing was stored.`,
    { details: { declared: label, sniffed } },
  );
}
