import type { StoreSize } from "../src/kernel/faces/log.ts";
import type { AppendFigures } from "./chapters/append.ts";
import type { EditFigures } from "./chapters/edit.ts";
import type { LookUpFigures } from "./chapters/look-up.ts";
import type { PageFigures } from "./chapters/page.ts";
import type { ReadImageFigures } from "./chapters/read-image.ts";
import type { ReopenFigures } from "./chapters/reopen.ts";
import type { RewindFigures } from "./chapters/rewind.ts";
import type { Course } from "./memory.ts";

/** All measurements of the demo; `--json` prints them. */
export interface Figures {
  readonly elapsedMs: number;
  readonly append: AppendFigures;
  readonly page: PageFigures;
  readonly lookUp: LookUpFigures;
  /** Missing if there was no image. */
  readonly image: ReadImageFigures | undefined;
  readonly rewind: RewindFigures;
  readonly edit: EditFigures;
  readonly reopen: Omit<ReopenFigures, "size">;
  readonly disk: StoreSize;
  readonly heap: Course;
  readonly rss: Course;
}
