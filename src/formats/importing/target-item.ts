import type { LineItem, RecordItem, RewindItem } from "../item.ts";

/** What goes into one session: records, and what comes between them and changes the line. */
export type TargetItem = RecordItem | RewindItem | LineItem;
