import { type Offer, type Place, type Switch, spelled } from './tree';

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** A completion for PowerShell 5.1 and later. */
export function powershellScript(places: readonly Place[]): string {
  return `# Completion of pwpush for PowerShell, made by: pwpush completion powershell

Register-ArgumentCompleter -Native -CommandName pwpush -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $places = @{
${places.map(placeOf).join('\n')}
    }
    $typed = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { "$_" })
    $path = ''; $want = ''; $at = 0; $prefix = ''
    foreach ($word in $typed) {
        if ($want -and -not ($want.StartsWith('many ') -and $word.StartsWith('-'))) {
            if (-not $want.StartsWith('many ')) { $want = '' }
            continue
        }
        $want = ''
        if ($word -ceq '--') { return }
        if ($word.StartsWith('-')) {
            $option = $places[$path].Options | Where-Object { $_.Name -ceq $word } | Select-Object -First 1
            if ($option) { $want = $option.Takes }
            continue
        }
        $next = "$path $word".Trim()
        if ($places.ContainsKey($next)) { $path = $next } else { $at++ }
    }
    $place = $places[$path]
    $current = $wordToComplete
    if (-not $want -and $current -match '^(--[^=]+)=(.*)$') {
        $prefix = $Matches[1] + '='; $current = $Matches[2]; $name = $Matches[1]
        $want = ($place.Options | Where-Object { $_.Name -ceq $name } | Select-Object -First 1).Takes
    } elseif ($current.StartsWith('-') -and (-not $want -or $want.StartsWith('many '))) {
        return $place.Options | Where-Object { $_.Name.StartsWith($current) } | ForEach-Object {
            [System.Management.Automation.CompletionResult]::new($_.Name, $_.Name, 'ParameterName', $_.Text)
        }
    } elseif (-not $want) {
        if ($at -eq 0 -and $place.Words) {
            return $place.Words | Where-Object { $_.Name.StartsWith($current) } | ForEach-Object {
                [System.Management.Automation.CompletionResult]::new($_.Name, $_.Name, 'Command', $_.Text)
            }
        }
        if ($at -lt $place.Values.Count) { $want = $place.Values[$at] }
    }
    $found = @()
    if ($want -match 'words:(.*)$') { $found = $Matches[1] -split ' ' }
    # Names of profiles, which anybody may have written: such as a shell would act on are left out.
    if ($want -match 'profiles$') {
        $found = pwpush profile list 2>$null | ForEach-Object { ($_ -split "\`t")[0] } |
            Where-Object { $_ -match '^[A-Za-z0-9][A-Za-z0-9._-]*$' }
    }
    $found | Where-Object { $_ -and $_.StartsWith($current) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new("$prefix$_", $_, 'ParameterValue', $_)
    }
}
`;
}

function placeOf({ path, words, options, values }: Place): string {
  const value = values.map((one) => quoted(spelled(one))).join(', ');
  return `        ${quoted(path)} = @{
            Words = @(${words.map(wordOf).join(', ')})
            Options = @(${options.flatMap(optionsOf).join(',\n                ')})
            Values = @(${value})
        }`;
}

function wordOf({ name, summary }: Offer): string {
  return `@{ Name = ${quoted(name)}; Text = ${quoted(summary)} }`;
}

function optionsOf({ names, summary, takes, many }: Switch): string[] {
  const what = takes === undefined ? '' : `${many ? 'many ' : ''}${spelled(takes)}`;
  return names.map(
    (name) => `@{ Name = ${quoted(name)}; Text = ${quoted(summary)}; Takes = ${quoted(what)} }`,
  );
}
