import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

// Writes a blob, prints its digest, and waits to be killed before anything refers to the blob.
const [path = "", text = ""] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const { digest } = await store.blobs.write([Buffer.from(text)], { maxBytes: 1_000 });
console.log(digest);
setInterval(() => {}, 1_000);
