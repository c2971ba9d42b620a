# Copyright (c) 2026 The pwpush authors
# SPDX-License-Identifier: MIT
"""The lookup of Ansible that gets a secret with pwpush(1). Copy it to the folder lookup_plugins beside a playbook."""

from __future__ import annotations

DOCUMENTATION = r"""
name: pwpush
author: The pwpush authors
short_description: get a secret from a link of Password Pusher
description:
  - Runs C(pwpush get) on the controller for each link, and returns the texts. Files of a push are not downloaded.
  - Retrieving uses a view, and the last one makes the link expire.
options:
  _terms:
    description: Links to get.
    required: true
  executable:
    description: Path of pwpush, or its name on the PATH.
    type: str
    default: pwpush
    env:
      - name: PWPUSH_EXECUTABLE
  anonymous:
    description:
      - Send no token, so that a view is used even if the token of the controller belongs to the sender.
      - Must be false for the answer to a request.
    type: bool
    default: true
  passphrase:
    description: Passphrase of the push. It is passed to pwpush in its environment.
    type: str
    env:
      - name: PWPUSH_PASSPHRASE
  key:
    description: Key or words of an encrypted push whose link has none. It is passed to pwpush in its environment.
    type: str
    env:
      - name: PWPUSH_KEY
notes:
  - No option is taken from variables. A managed host can set them with facts, and would decide which program the
    controller runs. An option in the call may name a variable.
  - Ansible evaluates a lookup each time that it evaluates the expression, and in a process of its own for each task and
    host. A variable under C(vars) therefore retrieves the push in every task that mentions it. Call the lookup once, in
    M(ansible.builtin.set_fact) with C(no_log), and with C(run_once) if there are several hosts. Within a task, a link is
    retrieved once.
  - In check mode nothing is retrieved; each text is C(not retrieved in check mode).
  - Like all lookups this runs on the controller, as the user who runs Ansible, with the profiles of that user, or
    C(PWPUSH_URL) and C(PWPUSH_TOKEN).
  - Do not add C(cacheable) to set_fact; a cache of facts may be a file.
  - Ansible before 2.19 turns a text such as C({"a":1}) or C(True) into data. The filter C(string) keeps the text, in
    set_fact and wherever it is used.
"""

EXAMPLES = r"""
- name: Get the secret, once for all hosts
  ansible.builtin.set_fact:
    db_password: "{{ lookup('pwpush', link) }}"
  run_once: true
  no_log: true

- name: Use it
  ansible.builtin.copy:
    dest: /etc/app/db-password
    content: "{{ db_password }}"
    mode: "0600"
  no_log: true
"""

RETURN = r"""
_raw:
  description: The texts, to the byte, in the order of the links.
  type: list
  elements: str
"""

import os
import subprocess

from ansible.errors import AnsibleLookupError
from ansible.module_utils.common.text.converters import to_text
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

# Of this process, which evaluates one task for one host.
_retrieved = {}


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        if (variables or {}).get("ansible_check_mode"):
            return ["not retrieved in check mode" for _ in terms]
        return [self._get(term) for term in terms]

    def _get(self, link):
        if not isinstance(link, str) or not link.strip():
            raise AnsibleLookupError("pwpush: a link must be a text that is not empty")
        link = str(link)
        if link not in _retrieved:
            _retrieved[link] = self._run(link)
        return _retrieved[link]

    def _run(self, link):
        env = dict(os.environ, PWPUSH_NO_INPUT="1")
        for option in ("passphrase", "key"):
            value = self.get_option(option)
            if value is not None:
                env["PWPUSH_" + option.upper()] = value
        # It is read here, also where a coding agent runs Ansible.
        words = [self.get_option("executable"), "get", "--no-files", "--reveal"]
        if self.get_option("anonymous"):
            words.append("--anonymous")
        try:
            ended = subprocess.run(
                [*words, "-"], env=env, input=link.encode(), capture_output=True, check=False
            )
        except (OSError, ValueError) as error:
            raise AnsibleLookupError("cannot run pwpush: %s" % to_text(error)) from None
        # Messages of pwpush contain neither secrets nor whole links.
        said = to_text(ended.stderr, errors="replace").strip()
        if ended.returncode != 0:
            raise AnsibleLookupError("%s (exit code %d)" % (said, ended.returncode))
        if said:
            Display().warning(said)
        return ended.stdout.decode("utf-8")
