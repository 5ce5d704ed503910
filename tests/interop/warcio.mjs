// SPDX-License-Identifier: Apache-2.0
// warcio.mjs FILE...: warcio reads every record; all digests are computed anew, and what revisits refer
// to is looked for.  Prints the number of records of each type as JSON.
import { createReadStream } from "node:fs";
import { createHash } from "node:crypto";
import { WARCParser } from "warcio";

const base32 = (bytes) => {
  let bits = 0, n = 0, out = "";
  for (const b of bytes) {
    bits = (bits << 8 | b) & 0xffff; n += 8;
    while (n >= 5) { out += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits >> (n - 5) & 31]; n -= 5; }
  }
  return out;
};
const sha1 = (bytes) => "sha1:" + base32(createHash("sha1").update(bytes).digest());
const fail = (why) => { console.error(why); process.exit(1); };

const counts = {}, content = new Map(), revisits = [];
for (const file of process.argv.slice(2)) {
  for await (const record of new WARCParser(createReadStream(file), { parseHttp: true })) {
    const header = (name) => record.warcHeader(name);
    const type = record.warcType, at = `${file}: ${type} of ${record.warcTargetURI}`;
    const payload = await record.readFully(false);      // the payload as sent
    counts[type] = (counts[type] || 0) + 1;
    if (record.warcHeaders.protocol !== "WARC/1.1") fail(`${at}: ${record.warcHeaders.protocol}`);
    if (!/^<urn:uuid:[0-9a-f-]{36}>$/.test(header("WARC-Record-ID"))) fail(`${at}: no id`);
    if (type === "response") {
      const told = header("WARC-Payload-Digest"), got = sha1(payload);
      if (told !== got) fail(`${at}: ${told} but warcio has ${got}`);
      content.set(record.warcTargetURI + " " + record.warcDate, told);
    } else if (type === "revisit") {
      revisits.push([at, header("WARC-Payload-Digest"), header("WARC-Refers-To-Target-URI") + " " + header("WARC-Refers-To-Date"), header("WARC-Profile"), record.httpHeaders.statusCode]);
      if (payload.length) fail(`${at}: a revisit with content`);
    } else if (header("WARC-Block-Digest") && !record.httpHeaders && header("WARC-Block-Digest") !== sha1(payload)) {
      fail(`${at}: block digest`);
    }
  }
}
for (const [at, digest, refers, profile, status] of revisits) {
  if (content.get(refers) !== digest) fail(`${at}: refers to ${refers}, which has not its digest`);
  if (profile.endsWith("server-not-modified") !== (status === 304)) fail(`${at}: ${profile} with ${status}`);
}
console.log(JSON.stringify(counts));
