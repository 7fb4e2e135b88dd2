/** SHA-256 of a blob's bytes as 64 lower-case hexadecimal characters; serves as name and checksum. */
export type Digest = string;

/** Refers to bytes stored outside the log. */
export interface BlobRef {
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly mime: string;
}

/** Whether a string has the form of a digest. */
export function isDigest(value: string): boolean {
  return /^[0-9a-f]{64}$/.test(value);
}
