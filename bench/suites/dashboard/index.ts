import type { Suite } from "../../suite.ts";
import { chartDrawing } from "./chart-drawing.ts";
import { firstOverview } from "./first-overview.ts";
import { openMillion } from "./open-million.ts";
import { scrollHeap } from "./scroll-heap.ts";

/** The dashboard in a real Chromium. CPU is that of the page's main thread and of the gateway, never time on a clock. */
export const dashboard: Suite = { measurements: [firstOverview, openMillion, scrollHeap, chartDrawing] };
