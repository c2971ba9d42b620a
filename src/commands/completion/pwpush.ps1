# Completion of pwpush for PowerShell, printed by: pwpush completion powershell

Register-ArgumentCompleter -Native -CommandName pwpush -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $typed = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { "$_" })
    # Quotes and empty arguments are lost on the way to a program, and cmd.exe may evaluate the rest.
    $words = @(@($typed) + "$wordToComplete" | ForEach-Object {
        ($_ -replace '[^\w./:=,@+-]', '_') -replace '^$', '_'
    })
    $kind, $offers = pwpush __complete @words 2>$null
    if ($kind -ne 'words') { return }
    $offers | ForEach-Object {
        $word, $text = $_ -split "`t", 2
        if ($word -and $word.StartsWith($wordToComplete)) {
            if (-not $text) { $text = $word }
            $type = if ($word.StartsWith('-')) { 'ParameterName' } else { 'ParameterValue' }
            # PowerShell inserts it as it is.
            $inserted = $word
            if ($word -cnotmatch '^[A-Za-z0-9._:/=-]+$') {
                $inserted = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word) + "'"
            }
            [System.Management.Automation.CompletionResult]::new($inserted, $word, $type, $text)
        }
    }
}
