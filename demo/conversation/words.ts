/** The vocabulary of the generated conversation, by slot name. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  noun: words(`
    cache, queue, parser, scheduler, session, worker, migration, index, request, response, retry, timeout, cursor,
    snapshot, checksum, payload, router, middleware, token, lock, transaction, replica, backup, stream, buffer, socket,
    handler, fixture, pipeline, manifest, release, invoice, webhook, permission, tenant, ledger, report, thumbnail,
    upload, search, mailbox, calendar, dashboard, exporter, importer, tokenizer, planner, watcher, registry, gateway`),
  quality: words(`
    slow, stale, missing, duplicate, unbounded, flaky, half-written, oversized, empty, unsorted, truncated, locked,
    outdated, unexpected, harmless, expensive, nested, optional, hidden, readable, partial, shared, recent, broken`),
  verb: words(`
    drops, keeps, repeats, blocks, rejects, returns, overwrites, waits for, closes, reopens, misses, rounds, loses,
    doubles, reorders, ignores, leaks, flushes, caches, delays, splits, merges, reads, validates, releases, counts`),
  do: words(`
    fix, rename, split, measure, remove, document, test, simplify, move, revert, replace, inline, bound, log, explain,
    benchmark, isolate, retry, cache, validate, reproduce, review, tighten, drop, back-port`),
  when: words(`
    after a restart, on the second call, under load, when two writers meet, at midnight, once the disk is nearly full,
    during the nightly export, on slow networks, after the upgrade, when the list is empty, in the staging cluster,
    with more than one tenant, as soon as the client disconnects, before the first commit, on every other request`),
  because: words(`
    because nobody closes it, since the clock can go back, because the key is not unique, as the order is not defined,
    because the promise is never awaited, since the limit counts characters and not bytes, because both share a buffer,
    as the test never reaches that branch, because the default changed, since the header is optional`),
  file: words(`
    src/queue.ts, src/cache/lru.ts, src/http/router.ts, src/billing/invoice.ts, src/search/index.ts, src/jobs/export.ts,
    src/auth/session.ts, src/db/migrate.ts, src/mail/outbox.ts, src/images/resize.ts, src/sync/merge.ts, src/cli.ts,
    test/queue.test.ts, test/router.test.ts, test/export.test.ts, docs/operations.md, config/limits.json, package.json`),
  function: words(`
    loadPage, commitGroup, resizeImage, mergeRanges, parseHeader, openStore, nextDelayMs, sumInvoice, readManifest,
    closeAll, findTenant, splitBatch, encodeRow, retryLater, listUploads, countTokens, renderReport, pruneIndex`),
  variable: words(`
    pages, group, width, ranges, header, store, delayMs, total, manifest, handles, tenant, batch, row, attempt, uploads,
    tokens, report, keys, chunk, limit, offset, result, seen, pending, deadline`),
  type: words(
    `string, number, Uint8Array, readonly Row[], Date, Manifest, Tenant, Map<string, Row>, SeqRange, Header`,
  ),
  person: words(`Ada, Grace, Edsger, Barbara, Ken, Margaret, Niklaus, Frances, Dennis, Radia`),
  command: words(`
    npm test, npm run build, git log --oneline -20, rg -n "retry" src, ls -la src, git diff --stat, node scripts/seed.mjs,
    curl -s localhost:8080/health, du -sh data, tail -n 50 var/export.log, sqlite3 data/app.db .schema`),
  level: words("info, info, info, debug, warn, error"),
};

function words(list: string): readonly string[] {
  return list.split(",").map((word) => word.trim());
}
