"""One file per question, with its public function: estimate, evaluate, compare, plan, ..."""
