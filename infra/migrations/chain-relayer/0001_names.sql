ALTER TABLE "chain_relayer"."burnt" RENAME TO "reverted_gas";--> statement-breakpoint
ALTER INDEX "chain_relayer"."burnt_lane_nonce_wallet_pk" RENAME TO "reverted_gas_lane_nonce_wallet_pk";--> statement-breakpoint
ALTER INDEX "chain_relayer"."burnt_of_wallet" RENAME TO "reverted_gas_of_wallet";--> statement-breakpoint
ALTER INDEX "chain_relayer"."burnt_created" RENAME TO "reverted_gas_created";--> statement-breakpoint
ALTER TABLE "chain_relayer"."spent" RENAME TO "signed_amounts";--> statement-breakpoint
ALTER INDEX "chain_relayer"."spent_signer_identity_pk" RENAME TO "signed_amounts_signer_identity_pk";--> statement-breakpoint
ALTER INDEX "chain_relayer"."spent_created" RENAME TO "signed_amounts_created";--> statement-breakpoint
ALTER TABLE "chain_relayer"."spent_days" RENAME TO "signed_totals";--> statement-breakpoint
ALTER INDEX "chain_relayer"."spent_days_signer_spending_day_pk" RENAME TO "signed_totals_signer_spending_day_pk";--> statement-breakpoint
-- Instances of the version before still use the old name while an upgrade replaces them.
CREATE VIEW "chain_relayer"."burnt" AS SELECT * FROM "chain_relayer"."reverted_gas";--> statement-breakpoint
-- Instances of the version before still use the old name while an upgrade replaces them.
CREATE VIEW "chain_relayer"."spent" AS SELECT * FROM "chain_relayer"."signed_amounts";--> statement-breakpoint
-- Instances of the version before still use the old name while an upgrade replaces them.
CREATE VIEW "chain_relayer"."spent_days" AS SELECT * FROM "chain_relayer"."signed_totals";
