/** Areas that the doctor examines, in the order of its report. */
export const AREAS = [
  "versions",
  "disk",
  "permissions",
  "database",
  "blobs",
  "index",
  "leases",
  "tasks",
  "cache",
  "configuration",
  "gateway",
  "agents",
  "histories",
] as const;

export type Area = (typeof AREAS)[number];

/** One result of an examination. */
export interface Finding {
  readonly area: Area;
  /** A problem makes something fail or lose content; a warning may become one. */
  readonly level: "ok" | "warning" | "problem";
  readonly text: string;
  /** A step that the user can take. */
  readonly remedy?: string;
  /** Repairs the problem and returns a sentence about the repair. */
  readonly fix?: () => Promise<string>;
}
