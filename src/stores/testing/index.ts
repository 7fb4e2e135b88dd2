export { type StoreCase, storeSuite } from "./store-suite.ts";
export { type WireCase, type WireSample, wireSuite } from "./wire-suite.ts";
