// The console in a real browser: sign in by the address that npm start prints, ask, watch the steps, decide by the mailed
// link, kill the worker, and see the session go on. Hostile text stays text.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RuntimeProcess, startRuntime } from "../../lib/cli/demo/runtime-process.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
if (!executablePath)
  console.warn("console tests are skipped: there is no /usr/bin/chromium (Debian: apt-get install chromium)");

const flags =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const waitMs = 60_000;

describe.skipIf(!executablePath)("the console", () => {
  const folder = mkdtempSync(join(tmpdir(), "baton-console-"));
  let runtime: RuntimeProcess;
  let browser: BrowserContext;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    runtime = await startRuntime({
      data: join(folder, "data"),
      env: { BATON_DEMO_LATENCY_MS: "1", AML_STEP_DELAY_MS: "100" },
    });
    browser = await chromium.launchPersistentContext(join(folder, "profile"), {
      headless: true,
      args: flags.split(" "),
      ...(executablePath ? { executablePath } : {}),
    });
    page = await browser.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
  }, waitMs);

  afterAll(async () => {
    await browser?.close();
    await runtime?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** The process that the header names; the one before while none answers. */
  let shown = 0;
  async function workerShown(): Promise<number> {
    shown = Number(/worker (\d+)$/.exec((await page.textContent("#runtime")) ?? "")?.[1] ?? shown);
    return shown;
  }

  it("asks for a token, and takes it from the address without keeping it there", async () => {
    await page.goto(runtime.info().url);
    await page.waitForSelector("#sign-in:not([hidden])");
    await page.goto(`${runtime.info().url}/#token=${runtime.info().token}`);
    await page.reload();
    await page.waitForSelector("#main:not([hidden])");
    expect(page.url()).not.toContain("token");
  });

  it("shows the steps of an investigation up to the question to a person", { timeout: waitMs }, async () => {
    await page.fill("#text", "Investigate customer C-1042");
    await page.click("text=Send");
    await page.waitForSelector("#approvals li", { timeout: waitMs });
    const steps = await page.locator("#steps strong").allTextContents();
    expect(steps.filter((name) => name !== "")).toEqual(
      expect.arrayContaining([
        "fetch_transactions",
        "screen_sanctions",
        "assess_risk",
        "draft_narrative",
        "submit_report",
      ]),
    );
    expect(await page.textContent("#session-facts")).toContain("paused");
  });

  it("does not let the requester approve, and says so", { timeout: waitMs }, async () => {
    await page.click("#approvals >> text=Approve");
    await expect.poll(() => page.textContent("#problem"), { timeout: waitMs }).not.toBe("");
    expect(await page.textContent("#session-facts")).toContain("paused");
  });

  it("goes on after the kill button, and finishes after the mailed link", { timeout: waitMs }, async () => {
    const before = await workerShown();
    await page.click("#kill");
    await expect.poll(workerShown, { timeout: waitMs }).not.toBe(before);
    await page.click("#mails summary");
    const [mailed] = await Promise.all([browser.waitForEvent("page"), page.click("#mails a")]);
    await mailed.click("button[value=approve]");
    await mailed.waitForLoadState();
    await expect.poll(() => page.textContent("#session-facts"), { timeout: waitMs }).toContain("completed");
    expect(await page.locator("#steps li").last().textContent()).toContain("R-000001");
    await mailed.close();
  });

  it("shows hostile text as text", { timeout: waitMs }, async () => {
    const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    await page.fill("#key", "agent:main:console:dm:hostile");
    await page.fill("#text", hostile);
    await page.click("text=Send");
    await expect.poll(() => page.textContent("#steps"), { timeout: waitMs }).toContain(hostile);
    expect(await page.title()).toBe("Baton console");
    expect(await page.locator("#steps img, #sessions img").count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
