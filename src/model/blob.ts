/** SHA-256 of a blob's bytes as 64 lower-case hexadecimal characters: its name and its checksum. */
export type Digest = string;

/** Points to bytes that live outside the log. */
export interface BlobRef {
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly mime: string;
}

/** Tells whether a string has the form of a digest. */
export function isDigest(value: string): boolean {
  return /^[0-9a-f]{64}$/.test(value);
}
