import type { Kernel } from "../../index.ts";

/** Result of a recall. */
export type RecallResult = Awaited<ReturnType<Kernel["memory"]["recall"]>>;

export type RecalledHit = RecallResult["hits"][number];
