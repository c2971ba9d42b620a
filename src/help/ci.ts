/** `pwpush help ci`. Its recipes are run by test/journey/recipes.test.ts. */
export const text = `Secrets in CI jobs

Nothing prompts where CI is set. Keep the API token in a secret of the CI
system, as PWPUSH_TOKEN, and the address of the instance in PWPUSH_URL. Hand
on links, not secrets: a link for one view tells when somebody was there first.
A job that only reads needs no token; --anonymous makes sure that a look takes
its view.

GitHub Actions, from one job to another. The runner hands no output on that
holds a masked value; a link it does. --github-env masks the secret first.

  jobs:
    build:
      runs-on: ubuntu-latest
      outputs: { link: "\${{ steps.push.outputs.link }}" }
      steps:
        - id: push
          run: |
            link=$(./make-token | pwpush push --views 1 --days 1)
            echo "link=$link" >> "$GITHUB_OUTPUT"
    deploy:
      needs: build
      runs-on: ubuntu-latest
      steps:
        - env: { LINK: "\${{ needs.build.outputs.link }}" }
          run: |
            pwpush get "$LINK" --anonymous --github-env DEPLOY_TOKEN
        - run: |
            ./deploy.sh

GitLab, from one job to another. Values of a dotenv report are not masked, so
that it is the link that is handed on.

  build:
    script:
      - link=$(./make-token | pwpush push --views 1 --days 1)
      - echo "LINK=$link" >> build.env
    artifacts: { reports: { dotenv: build.env } }
  deploy:
    needs: [build]
    script:
      - pwpush run "$LINK" --anonymous --as DEPLOY_TOKEN -- ./deploy.sh

A Makefile. The link comes from the environment, and @ keeps the line out of
the log; a push of NAME=value lines needs no --as, and --only takes just the
names that the job expects.

  deploy:
  	@pwpush run "$$LINK" --only DEPLOY_TOKEN -- ./deploy.sh

Ansible, to read a secret and to hand one over; no_log keeps both out of the
output.

  - ansible.builtin.command:
      argv: [pwpush, get, --anonymous, "{{ link }}"]
    delegate_to: localhost
    register: secret
    no_log: true
  - ansible.builtin.command:
      argv: [pwpush, push, --views, "1"]
      stdin: "{{ password }}"
      stdin_add_newline: false
    delegate_to: localhost
    register: pushed
    no_log: true

Kubernetes, from a push of NAME=value lines without quotes.

  pwpush get "$LINK" |
    kubectl create secret generic app --from-env-file=/dev/stdin

Wait until it was picked up, and take it back after an hour at the latest.

  pwpush wait "$LINK" --timeout 3600 --then-expire || pwpush expire "$LINK"

The exit code says what to do next: 6 ask for a new link, 9 run the job again,
11 no answer came and the view may be gone. See pwpush(1).
`;
