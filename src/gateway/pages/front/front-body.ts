/** The empty frame of the status page; the script fills it. */
export const FRONT_BODY = `
<main>
<header>
  <h1>longhaul</h1><span id="version" class="dim"></span><span id="state" class="pill" role="status"></span>
  <span id="settings" class="dim push"></span>
</header>
<noscript>This page needs JavaScript; the same data is at /api/status.</noscript>
<p id="problem" class="bad" role="alert" hidden></p>
<form id="door" hidden>
  <input id="token" type="password" autocomplete="off" aria-label="Token" placeholder="Gateway token, kept only while this page is open">
  <button>Open</button>
</form>
<div id="inside" hidden>
  <p id="memory" class="warm" role="alert" hidden></p>
  <section class="cards" id="totals" aria-label="Since startup"></section>
  <h2>Upstreams</h2><section class="list" id="upstreams"></section>
  <h2>Active conversations</h2><section class="list" id="threads"></section>
  <h2>Recall</h2>
  <form id="ask"><input id="question" aria-label="Question" placeholder="Which port does the staging server use?" maxlength="4000"><button>Recall</button></form>
  <section class="list" id="hits" aria-live="polite" hidden></section>
  <p id="index" class="dim" role="status" hidden></p>
  <h2>Stored sessions</h2><section class="list" id="sessions"></section>
  <p><button id="import">Import agent histories from this computer</button> <span id="imported" class="dim" role="status"></span></p>
  <h2>Connect an agent</h2><section class="list" id="agents"></section>
</div>
</main>
`;
