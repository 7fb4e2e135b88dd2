import type { LineItem, RecordItem, RewindItem } from "../reading/item.ts";

/** An item for one session: a record, or a change of the line between records. */
export type SessionImportItem = RecordItem | RewindItem | LineItem;
