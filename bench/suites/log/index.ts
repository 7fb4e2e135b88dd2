import type { Suite } from "../../suite.ts";
import { appendFlat } from "./append-flat.ts";
import { appendConcurrent, appendSingle } from "./append-limit.ts";
import { appendBesidePeers, appendBesidePi } from "./append-peers.ts";
import { bytes } from "./bytes.ts";
import { cycles } from "./cycles.ts";
import { imagesBesidePi, imagesDistinct, imagesIdentical } from "./images.ts";
import { lookup } from "./lookup.ts";
import { memoryAppend } from "./memory.ts";
import { openLastPage } from "./open-last.ts";
import { payload } from "./payload.ts";
import { seed } from "./seed.ts";

/** The session log. */
export const log: Suite = {
  measurements: [
    payload,
    appendSingle,
    appendConcurrent,
    appendBesidePi,
    appendBesidePeers,
    bytes,
    appendFlat,
    memoryAppend,
    openLastPage,
    lookup,
    imagesDistinct,
    imagesIdentical,
    imagesBesidePi,
    cycles,
    seed,
  ],
};
