export { type StoreCase, storeSuite } from "./store-suite.ts";
