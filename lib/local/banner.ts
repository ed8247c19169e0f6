// What `npm start` prints once it is ready.
import type { DevInfo } from "./supervisor.ts";

export function banner(info: DevInfo, options: { smtp: boolean; resumed: number }): string {
  const mail = options.smtp ? "sent by SMTP (BATON_SMTP_URL)" : `${info.mailDir} (set BATON_SMTP_URL to send really)`;
  const resumed =
    options.resumed > 0 ? `\n  resumed  ${options.resumed} open session${options.resumed > 1 ? "s" : ""}` : "";
  return `
Baton is ready at ${info.url}
  token    ${info.token}
  model    ${info.model}
  mail     ${mail}${info.registryUrl ? `\n  registry ${info.registryUrl}` : ""}
  worker   process ${info.workerPid}; kill it, and the work goes on${resumed}

Console:
  ${info.url}/#token=${info.token}

Try:
  curl -s -XPOST '${info.url}/v1/messages?wait=20' -H 'Authorization: Bearer ${info.token}' -d '{"key":"agent:aml:cli:dm:me","text":"Investigate customer C-1042"}'
  curl -s ${info.url}/v1/sessions -H 'Authorization: Bearer ${info.token}'

Ctrl-C stops; sessions are kept.
`;
}
