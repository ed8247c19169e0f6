import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { SESv2Client } from "@aws-sdk/client-sesv2";
import { afterEach, describe, expect, it } from "vitest";
import { createSesMailer } from "../../lib/adapters/ses-mailer.ts";
import { mimeMessage } from "../../lib/mail/mime.ts";
import type { Mail } from "../../lib/ports/mailer.ts";

const from = "Baton <approvals@bank.example>";
const mail: Mail = {
  to: "ann@bank.example",
  subject: "Approval needed",
  text: "Grüße\n",
  html: "<p>Grüße</p>",
  messageId: "<ap1.request.ann@baton.example>",
  date: Date.UTC(2026, 4, 5),
};

let server: Server | undefined;
let client: SESv2Client | undefined;
afterEach(async () => {
  client?.destroy();
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
});

/** SES over the wire: answers each request with the next of `answers`; null drops the connection. */
async function sesThat(...answers: ({ status: number; type?: string } | null)[]) {
  const requests: { method?: string; url?: string; body: unknown }[] = [];
  server = createServer(async (request: IncomingMessage, response) => {
    requests.push({ method: request.method, url: request.url, body: await json(request) });
    const answer = answers.length === 0 ? { status: 200 } : answers.shift();
    if (!answer) return void request.socket.destroy();
    response.writeHead(answer.status, {
      "content-type": "application/json",
      ...(answer.type ? { "x-amzn-errortype": answer.type } : {}),
    });
    response.end(JSON.stringify(answer.type ? { message: "ann@bank.example is bad" } : { MessageId: "0100" }));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  client = new SESv2Client({
    region: "eu-central-1",
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  return { requests, client };
}

describe("createSesMailer", () => {
  it("hands over the same bytes as every other mailer, on every attempt (H23)", async () => {
    const { requests, client } = await sesThat({ status: 503 }, null);
    const mailer = createSesMailer({ client, from, configurationSet: "approvals" });
    await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable" });
    await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable" });
    await mailer.send(mail);
    const { bytes } = await mimeMessage(mail, from);
    const request = {
      method: "POST",
      url: "/v2/email/outbound-emails",
      body: {
        FromEmailAddress: "approvals@bank.example",
        Destination: { ToAddresses: ["ann@bank.example"] },
        Content: { Raw: { Data: Buffer.from(bytes).toString("base64") } },
        ConfigurationSetName: "approvals",
      },
    };
    expect(requests).toEqual([request, request, request]);
  });

  const answers: [string, number, string][] = [
    ["MessageRejected", 400, "MailRefused"],
    ["BadRequestException", 400, "MailRefused"],
    ["TooManyRequestsException", 429, "MailUnavailable"],
    ["SendingPausedException", 400, "MailUnavailable"],
    ["MailFromDomainNotVerifiedException", 400, "MailUnavailable"],
    ["AccessDeniedException", 403, "MailUnavailable"],
  ];
  for (const [type, status, name] of answers) {
    it(`takes ${type} as ${name}, without quoting SES`, async () => {
      const { client } = await sesThat({ status, type });
      const error = await createSesMailer({ client, from })
        .send(mail)
        .catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ name });
      expect(String(error)).toContain(type);
      expect(String(error)).not.toContain("ann@");
    });
  }
});
