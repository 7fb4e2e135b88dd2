export { type StoreCase, storeSuite } from "./store-suite.ts";
export type { WireSample } from "./wire/wire-sample.ts";
export { type WireCase, wireSuite } from "./wire-suite.ts";
